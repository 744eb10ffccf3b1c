//! The files that the search takes hints from: which of a directory's, and whether they can be read.

use std::io;
use std::path::{Path, PathBuf};

use paths::Blocked;
use serde::Deserialize;

use crate::hints::{Database, Files};

/// What the name of a file with distances begins with; a version may follow.
const DISTANCES: &str = "curie_ngd";
/// The same for the numbers of neighbours.
const DEGREES: &str = "tier0-info-for-overlay";
const SUFFIX: &str = ".sqlite";
const GENERAL_CONCEPTS: &str = "general_concepts.json";

/// A directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilesError {
    #[error("{path} cannot be read")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("there is no file like {start}*{end} in {directory}")]
    Missing { directory: PathBuf, start: &'static str, end: String },
    #[error("{path} is no SQLite file with the table it should have")]
    Database {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error("{path} is no list of blocked nodes")]
    GeneralConcepts {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
}

/// Opens the files of a directory, those of `version` where one is named, else the last by name. The list of
/// general concepts may be missing.
pub(crate) fn open(directory: &Path, version: Option<&str>) -> Result<(Files, Blocked), FilesError> {
    let distances = database(directory, DISTANCES, version, crate::hints::DISTANCES)?;
    let degrees = database(directory, DEGREES, version, crate::hints::DEGREES)?;
    Ok((Files::new(distances, degrees), general_concepts(&directory.join(GENERAL_CONCEPTS))?))
}

fn database(
    directory: &Path,
    start: &'static str,
    version: Option<&str>,
    query: &'static str,
) -> Result<Database, FilesError> {
    let end = version.map_or_else(|| SUFFIX.to_owned(), |version| format!("_{version}{SUFFIX}"));
    let unreadable = |source| FilesError::Unreadable { path: directory.to_owned(), source };
    let mut last: Option<String> = None;
    for entry in directory.read_dir().map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        if let Some(name) = name.to_str()
            && name.starts_with(start)
            && name.ends_with(&end)
            && last.as_deref().is_none_or(|last| last < name)
        {
            last = Some(name.to_owned());
        }
    }
    let Some(name) = last else {
        return Err(FilesError::Missing { directory: directory.to_owned(), start, end });
    };
    let path = directory.join(name);
    Database::open(&path, query).map_err(|source| FilesError::Database { path, source })
}

#[derive(Deserialize)]
struct GeneralConcepts {
    curies: Vec<String>,
    synonyms: Vec<String>,
}

fn general_concepts(path: &Path) -> Result<Blocked, FilesError> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Blocked::default()),
        Err(source) => return Err(FilesError::Unreadable { path: path.to_owned(), source }),
    };
    let GeneralConcepts { curies, synonyms } = serde_json::from_slice(&text)
        .map_err(|source| FilesError::GeneralConcepts { path: path.to_owned(), source })?;
    Ok(Blocked::new(curies, synonyms))
}
