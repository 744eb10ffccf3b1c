//! Rule packs on disk: read whole, checked whole, once at start.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use answers::expand::{AragornRules, BteTemplates, RuleError};

const GROUPS_FILE: &str = "template_groups.json";

/// A rule pack that cannot be used; names the file and the rule.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// A file or directory cannot be read.
    #[error("{path} cannot be read")]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A rule cannot be used.
    #[error("a rule cannot be used")]
    Rule(#[from] RuleError),
    /// The directory of aragorn's rules does not hold exactly one file.
    #[error("{directory} holds {found} rule files where one is expected")]
    NotOneFile {
        /// The directory.
        directory: PathBuf,
        /// How many were found.
        found: usize,
    },
    /// The file that groups bte's templates is missing.
    #[error("{directory} holds no {GROUPS_FILE}")]
    NoGroups {
        /// The directory.
        directory: PathBuf,
    },
    /// Templates are told apart by their file names.
    #[error("{path}: this file name is used twice")]
    SameName {
        /// The second file of the name.
        path: PathBuf,
    },
}

/// The rules in `DIR/aragorn`: one file.
///
/// # Errors
/// [`RulesError`] names the file and the rule.
pub fn aragorn(directory: &Path) -> Result<AragornRules, RulesError> {
    let directory = directory.join("aragorn");
    let files = json_files(&directory)?;
    let [(path, text)] = &files[..] else {
        return Err(RulesError::NotOneFile { directory, found: files.len() });
    };
    Ok(AragornRules::parse(&path.display().to_string(), text)?)
}

/// The templates in `DIR/bte`: `template_groups.json`, and the templates beside and below it.
///
/// # Errors
/// [`RulesError`] names the file and the template.
pub fn bte(directory: &Path) -> Result<BteTemplates, RulesError> {
    let directory = directory.join("bte");
    let mut groups = None;
    let mut templates = BTreeMap::new();
    for (path, text) in json_files(&directory)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == GROUPS_FILE {
            groups = Some((path.display().to_string(), text));
        } else if templates.insert(name, text).is_some() {
            return Err(RulesError::SameName { path });
        }
    }
    let Some((file, groups)) = groups else { return Err(RulesError::NoGroups { directory }) };
    Ok(BteTemplates::parse(&file, &groups, &templates)?)
}

/// All `.json` files below `directory` with their texts, in the order of their paths.
fn json_files(directory: &Path) -> Result<Vec<(PathBuf, String)>, RulesError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| RulesError::Read { path, source }
    };
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for item in std::fs::read_dir(&directory).map_err(unreadable(&directory))? {
            let path = item.map_err(unreadable(&directory))?.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
                found.push((path, text));
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        directory
    }

    #[test]
    fn shipped_packs_cover_what_a_fresh_clone_is_asked() {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules");
        let counts: Vec<(String, usize)> = aragorn(&shipped).unwrap().keys().collect();
        let count = |wanted: &[&str]| {
            counts
                .iter()
                .find(|(key, _)| wanted.iter().all(|word| key.contains(word)))
                .map_or(0, |(_, count)| *count)
        };
        assert!(count(&["biolink:treats"]) >= 6);
        for direction in ["increased", "decreased"] {
            assert!(count(&["biolink:affects activity ", direction]) >= 3, "{counts:?}");
            assert!(count(&["biolink:affects", "activity_or_abundance", direction]) >= 3, "{counts:?}");
        }
        assert!(bte(&shipped).unwrap().len() >= 3);
    }

    #[test]
    fn errors_name_the_file() {
        let empty = pack(&[]);
        assert!(
            matches!(aragorn(empty.path()), Err(RulesError::Read { path, .. }) if path.ends_with("aragorn"))
        );
        let two = pack(&[("aragorn/a.json", "{}"), ("aragorn/b.json", "{}")]);
        assert!(matches!(aragorn(two.path()), Err(RulesError::NotOneFile { found: 2, .. })));
        let broken = pack(&[("aragorn/rules.json", "{")]);
        let error = aragorn(broken.path()).unwrap_err();
        assert!(runtime::Causes(&error).to_string().contains("rules.json"), "{error:?}");
        let ungrouped = pack(&[("bte/templates/a.json", "{}")]);
        assert!(matches!(bte(ungrouped.path()), Err(RulesError::NoGroups { .. })));
        let twice =
            pack(&[("bte/template_groups.json", "[]"), ("bte/x/a.json", "{}"), ("bte/y/a.json", "{}")]);
        assert!(matches!(bte(twice.path()), Err(RulesError::SameName { .. })));
    }
}
