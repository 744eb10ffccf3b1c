//! Finding the programs and the rule packs without a path baked in at compile time.

use std::path::{Path, PathBuf};

/// The nearest directory above the file `exe` that holds a program called `name`.
///
/// Beside the developer binary for an installed one, `target/debug` for a test program in `target/debug/deps`.
pub fn bin_dir_near(exe: &Path, name: &str) -> Option<PathBuf> {
    let mut above = exe.ancestors().skip(1);
    above.find(|dir| dir.join(name).is_file()).map(Path::to_owned)
}

/// The rule packs' directory: `rules` in the current directory or the nearest one above it, else in the nearest one
/// above the file `exe`.
pub fn find_rules_dir(exe: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    rules_dir_from(here.as_deref(), exe)
}

fn rules_dir_from(here: Option<&Path>, exe: &Path) -> Option<PathBuf> {
    let above_here = here.into_iter().flat_map(Path::ancestors);
    let places = above_here.chain(exe.ancestors().skip(1));
    places.map(|dir| dir.join("rules")).find(|dir| dir.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_above_a_test_program() {
        let dir = tempfile::tempdir().unwrap();
        let deps = dir.path().join("debug/deps");
        std::fs::create_dir_all(&deps).unwrap();
        std::fs::write(dir.path().join("debug/shepherd-server"), "").unwrap();
        let exe = deps.join("it-0123");
        assert_eq!(bin_dir_near(&exe, "shepherd-server"), Some(dir.path().join("debug")));
        assert_eq!(bin_dir_near(&exe, "no-such-program"), None);
    }

    #[test]
    fn rules_are_found_from_here_first_and_from_the_program_second() {
        let (here, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let exe = elsewhere.path().join("target/debug/shepherd");
        std::fs::create_dir_all(elsewhere.path().join("rules")).unwrap();
        let deep = here.path().join("a/b");
        assert_eq!(rules_dir_from(Some(&deep), &exe), Some(elsewhere.path().join("rules")));
        std::fs::create_dir_all(here.path().join("rules")).unwrap();
        assert_eq!(rules_dir_from(Some(&deep), &exe), Some(here.path().join("rules")));
    }
}
