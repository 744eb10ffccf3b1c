//! Counts of publications from LMDB files, for `aragorn.omnicorp`.
//!
//! Two files, as the literature service writes them: one from the identifier of a node to
//! `{"pmc": count, "index": number}`, one from `smaller_larger` of two indexes to a count in as many bytes,
//! little-endian, as it needs. Neither is ever written here.

use std::path::{Path, PathBuf};

use answers::operations::{Literature, Named};
use heed::types::{Bytes, Str};
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, WithoutTls};
use serde::Deserialize;

/// Longer counts do not fit into what they are counted with.
const MAX_COUNT_BYTES: usize = size_of::<u64>();
/// Address space for each file; the file itself may be smaller. LMDB maps a larger one as a whole.
const MAP_BYTES: usize = 1 << 20;

/// The two files, open for reading.
#[derive(Debug)]
pub struct Omnicorp {
    curies: Table,
    shared_counts: Table,
}

/// One file and the one database in it.
#[derive(Debug)]
struct Table {
    env: Env<WithoutTls>,
    database: Database<'static, Str, Bytes>,
}

/// Counts cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LiteratureError {
    /// A file cannot be opened.
    #[error("{path} cannot be opened as an LMDB file")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: Box<heed::Error>,
    },
    /// There is no database in a file.
    #[error("there is no database in {path}")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A lookup failed.
    #[error("the literature cannot be looked up")]
    Read(#[source] Box<heed::Error>),
    /// What is stored is not what was expected.
    #[error("what the literature has for {key} is damaged")]
    Damaged {
        /// Under which key.
        key: String,
    },
}

#[derive(Deserialize)]
struct Stored {
    pmc: u64,
    index: u64,
}

impl Omnicorp {
    /// Opens both files.
    ///
    /// # Errors
    /// [`LiteratureError::Open`] or [`LiteratureError::Empty`] for a file that is not there or not one of LMDB's.
    pub fn open(curies: &Path, shared_counts: &Path) -> Result<Self, LiteratureError> {
        Ok(Self { curies: Table::open(curies)?, shared_counts: Table::open(shared_counts)? })
    }
}

impl Table {
    fn open(path: &Path) -> Result<Self, LiteratureError> {
        let unusable = |source| LiteratureError::Open { path: path.to_owned(), source: Box::new(source) };
        let env = map(path).map_err(unusable)?;
        let reading = env.read_txn().map_err(unusable)?;
        let opened = env.open_databases_and_commit(reading, |databases, reading| {
            Ok(match databases.open_database::<Str, Bytes>(reading, None)? {
                Some(database) => CommitOrAbort::Commit(database),
                None => CommitOrAbort::Abort(()),
            })
        });
        let opened: CommitOrAbort<_, ()> = opened.map_err(unusable)?;
        let database = opened.commit().ok_or_else(|| LiteratureError::Empty { path: path.to_owned() })?;
        Ok(Self { env, database })
    }

    /// What is stored for a key, as `read` understands it. LMDB refuses keys that are empty or too long; there
    /// is nothing stored for those.
    fn get<T>(&self, key: &str, read: impl FnOnce(&[u8]) -> Option<T>) -> Result<Option<T>, LiteratureError> {
        let failed = |error| LiteratureError::Read(Box::new(error));
        if key.is_empty() || key.len() > self.env.max_key_size() {
            return Ok(None);
        }
        let reading = self.env.read_txn().map_err(failed)?;
        let Some(stored) = self.database.get(&reading, key).map_err(failed)? else { return Ok(None) };
        read(stored).map(Some).ok_or_else(|| LiteratureError::Damaged { key: key.to_owned() })
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

impl Literature for Omnicorp {
    type Error = LiteratureError;

    fn node(&self, curie: &str) -> Result<Option<Named>, LiteratureError> {
        self.curies.get(curie, |stored| {
            let Stored { pmc, index } = serde_json::from_slice(stored).ok()?;
            Some(Named { publications: pmc, index })
        })
    }

    fn shared(&self, smaller: u64, larger: u64) -> Result<Option<u64>, LiteratureError> {
        self.shared_counts.get(&format!("{smaller}_{larger}"), |stored| {
            let mut bytes = [0; MAX_COUNT_BYTES];
            bytes.get_mut(..stored.len())?.copy_from_slice(stored);
            Some(u64::from_le_bytes(bytes))
        })
    }
}
