//! LMDB files as other programs write them, one database each. Nothing is ever written here.

use std::path::{Path, PathBuf};

use heed::types::{Bytes, Str};
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, WithoutTls};

/// Address space for each file; the file itself may be smaller. LMDB maps a larger one as a whole.
const MAP_BYTES: usize = 1 << 20;
/// The file in a directory that stands for an LMDB file.
const DATA_FILE: &str = "data.mdb";

/// One file, open for reading, and the one database in it.
#[derive(Debug)]
pub struct Table {
    env: Env<WithoutTls>,
    database: Database<'static, Str, Bytes>,
}

/// A file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LmdbError {
    /// It cannot be opened.
    #[error("{path} cannot be opened as an LMDB file")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: Box<heed::Error>,
    },
    /// There is no database in it.
    #[error("there is no database in {path}")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A lookup failed.
    #[error("an LMDB file cannot be read")]
    Read(#[source] Box<heed::Error>),
}

impl Table {
    /// Opens a file, or the `data.mdb` of a directory.
    ///
    /// # Errors
    /// [`LmdbError::Open`] or [`LmdbError::Empty`] for one that is not there or not LMDB's.
    pub fn open(path: &Path) -> Result<Self, LmdbError> {
        let path = if path.is_dir() { path.join(DATA_FILE) } else { path.to_owned() };
        let unusable = |source| LmdbError::Open { path: path.clone(), source: Box::new(source) };
        let env = map(&path).map_err(unusable)?;
        let reading = env.read_txn().map_err(unusable)?;
        let opened = env.open_databases_and_commit(reading, |databases, reading| {
            Ok(match databases.open_database::<Str, Bytes>(reading, None)? {
                Some(database) => CommitOrAbort::Commit(database),
                None => CommitOrAbort::Abort(()),
            })
        });
        let opened: CommitOrAbort<_, ()> = opened.map_err(unusable)?;
        let database = opened.commit().ok_or(LmdbError::Empty { path })?;
        Ok(Self { env, database })
    }

    /// What `read` makes of the bytes that are stored for a key. LMDB refuses keys that are empty or too long; there is
    /// nothing stored for those.
    ///
    /// # Errors
    /// [`LmdbError::Read`] when the file cannot be read.
    pub fn get<T>(&self, key: &str, read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>, LmdbError> {
        let failed = |error| LmdbError::Read(Box::new(error));
        if key.is_empty() || key.len() > self.env.max_key_size() {
            return Ok(None);
        }
        let reading = self.env.read_txn().map_err(failed)?;
        Ok(self.database.get(&reading, key).map_err(failed)?.map(read))
    }

    /// How many bytes are stored for the first key; none where there is no key.
    ///
    /// # Errors
    /// [`LmdbError::Read`] when the file cannot be read, or its first key is no text.
    pub fn first_len(&self) -> Result<Option<usize>, LmdbError> {
        let failed = |error| LmdbError::Read(Box::new(error));
        let reading = self.env.read_txn().map_err(failed)?;
        let first = self.database.first(&reading).map_err(failed)?;
        Ok(first.map(|(_, stored)| stored.len()))
    }
}

/// Maps a file, without a folder of its own and without a lock beside it: nobody writes.
#[expect(unsafe_code, reason = "LMDB maps the file; it is installed as a whole and never written in place")]
fn map(path: &Path) -> heed::Result<Env<WithoutTls>> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(MAP_BYTES);
    let flags = EnvFlags::READ_ONLY | EnvFlags::NO_SUB_DIR | EnvFlags::NO_LOCK;
    // SAFETY: the map is only read, and operators replace such files by new ones instead of writing to them
    unsafe { options.flags(flags).open(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_read_by_its_own_name_and_as_that_of_a_directory() {
        let folder = tempfile::tempdir().unwrap();
        let path = testkit::lmdb::file(folder.path(), DATA_FILE, &[("a", &[1, 2]), ("b", &[3])]);
        for path in [path.as_path(), folder.path()] {
            let table = Table::open(path).unwrap();
            assert_eq!(table.get("a", <[u8]>::len).unwrap(), Some(2));
            assert_eq!(table.first_len().unwrap(), Some(2));
            for unknown in ["", "c", &"x".repeat(5000)] {
                assert_eq!(table.get(unknown, <[u8]>::len).unwrap(), None);
            }
            drop(table);
        }
    }
}
