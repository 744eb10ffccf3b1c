//! What a process is asked for on its command line; everything else is a setting.

/// What the process is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Run,
    PrintConfig,
    CheckHealth,
    CheckReady,
    Help,
    Version,
}

/// An argument that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no argument; there are {names}", names = OPTIONS.map(|(name, ..)| name).join(", "))]
pub struct UnknownArgument(String);

const OPTIONS: [(&str, Request, &str); 5] = [
    ("--print-config", Request::PrintConfig, "shows the settings that apply, secrets masked"),
    ("--check-health", Request::CheckHealth, "is the process that runs with these settings alive?"),
    ("--check-ready", Request::CheckReady, "can it take work?"),
    ("--help", Request::Help, "shows this"),
    ("--version", Request::Version, "shows the version"),
];

impl Request {
    /// Reads the arguments; of several the first counts.
    ///
    /// # Errors
    /// [`UnknownArgument`]: nobody who mistypes wants a process that takes work.
    pub(crate) fn read(arguments: impl IntoIterator<Item = String>) -> Result<Self, UnknownArgument> {
        let mut requests = arguments.into_iter().map(|argument| {
            let option = OPTIONS.iter().find(|(name, ..)| *name == argument);
            option.map(|(_, request, _)| *request).ok_or(UnknownArgument(argument))
        });
        let first = requests.next().transpose()?;
        requests.try_for_each(|request| request.map(drop))?;
        Ok(first.unwrap_or(Self::Run))
    }
}

/// What `--help` shows.
pub(crate) fn help(name: &str) -> String {
    let options = OPTIONS.map(|(option, _, about)| format!("  {option:<16} {about}\n"));
    format!(
        "{name} [OPTION]\n\nRuns until it is told to stop. Settings are environment variables: see --print-config.\n\n{}",
        options.concat()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Request, UnknownArgument> {
        Request::read(arguments.iter().map(|&argument| argument.to_owned()))
    }

    #[test]
    fn options_are_read_and_all_else_is_refused() {
        assert_eq!(read(&[]), Ok(Request::Run));
        assert_eq!(read(&["--print-config"]), Ok(Request::PrintConfig));
        assert_eq!(read(&["--help", "--version"]), Ok(Request::Help));
        for wrong in [&["--print-confg"][..], &["serve"], &["--help", "-x"]] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains("--print-config, --check-health"), "{error}");
        }
        assert!(help("operations").starts_with("operations [OPTION]"));
    }
}
