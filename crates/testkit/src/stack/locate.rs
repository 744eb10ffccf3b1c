//! Finding the programs and the rule packs without a path baked in at compile time.

use std::path::{Path, PathBuf};

/// The nearest directory above the file `exe` that holds a program called `name`.
///
/// Beside the developer binary for an installed one, `target/debug` for a test program in `target/debug/deps`.
pub fn bin_dir_near(exe: &Path, name: &str) -> Option<PathBuf> {
    let mut above = exe.ancestors().skip(1);
    above.find(|dir| dir.join(name).is_file()).map(Path::to_owned)
}

/// The rule packs' directory: `rules` in the current directory, else in the nearest directory above the file `exe`.
pub fn find_rules_dir(exe: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    let places = here.iter().map(PathBuf::as_path).chain(exe.ancestors().skip(1));
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
    fn rules_are_found_above_the_program() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("rules")).unwrap();
        let exe = dir.path().join("target/debug/shepherd");
        assert_eq!(find_rules_dir(&exe), Some(dir.path().join("rules")));
    }
}
