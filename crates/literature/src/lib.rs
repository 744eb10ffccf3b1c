//! Counts of publications from LMDB files, for `aragorn.omnicorp`.
//!
//! Two files, as the literature service writes them: one from the identifier of a node to
//! `{"pmc": count, "index": number}`, one from `smaller_larger` of two indexes to a count in as many bytes,
//! little-endian, as it needs. Neither is ever written here.

use std::path::Path;

use answers::operations::{Literature, Named};
use lmdb::{LmdbError, Table};
use serde::Deserialize;

/// Longer counts do not fit into what they are counted with.
const MAX_COUNT_BYTES: usize = size_of::<u64>();
/// The two files, open for reading.
#[derive(Debug)]
pub struct Omnicorp {
    curies: Table,
    shared_counts: Table,
}

/// Counts cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LiteratureError {
    /// A file cannot be opened or read.
    #[error(transparent)]
    Lmdb(#[from] LmdbError),
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
    /// [`LiteratureError::Lmdb`] for a file that is not there or not one of LMDB's.
    pub fn open(curies: &Path, shared_counts: &Path) -> Result<Self, LiteratureError> {
        Ok(Self { curies: Table::open(curies)?, shared_counts: Table::open(shared_counts)? })
    }
}

/// What is stored for a key, as `read` understands it.
fn get<T>(
    table: &Table,
    key: &str,
    read: impl FnOnce(&[u8]) -> Option<T>,
) -> Result<Option<T>, LiteratureError> {
    let damaged = || LiteratureError::Damaged { key: key.to_owned() };
    table.get(key, read)?.map(|read| read.ok_or_else(damaged)).transpose()
}

impl Literature for Omnicorp {
    type Error = LiteratureError;

    fn node(&self, curie: &str) -> Result<Option<Named>, LiteratureError> {
        get(&self.curies, curie, |stored| {
            let Stored { pmc, index } = serde_json::from_slice(stored).ok()?;
            Some(Named { publications: pmc, index })
        })
    }

    fn shared(&self, smaller: u64, larger: u64) -> Result<Option<u64>, LiteratureError> {
        get(&self.shared_counts, &format!("{smaller}_{larger}"), |stored| {
            let mut bytes = [0; MAX_COUNT_BYTES];
            bytes.get_mut(..stored.len())?.copy_from_slice(stored);
            Some(u64::from_le_bytes(bytes))
        })
    }
}
