//! Vectors of nodes and predicates.

use std::path::Path;

use lmdb::Table;

use crate::error::{ModelError, ScoreError, Unusable};

const BYTES: usize = size_of::<f32>();

/// An open file of vectors.
#[derive(Debug)]
pub(crate) struct Embeddings {
    table: Table,
    length: usize,
}

impl Embeddings {
    pub(crate) fn open(path: &Path) -> Result<Self, ModelError> {
        let table = Table::open(path)?;
        match table.first_len()? {
            Some(bytes) if bytes > 0 && bytes.is_multiple_of(BYTES) => {
                Ok(Self { table, length: bytes / BYTES })
            }
            other => Err(Unusable::Vector { bytes: other.unwrap_or_default() }.at(path)),
        }
    }

    /// How many numbers a vector has.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The mean of the vectors that there are; NaN where there are none.
    #[expect(clippy::cast_possible_truncation, reason = "vectors are of single precision")]
    pub(crate) fn mean<'k>(&self, keys: impl Iterator<Item = &'k str>) -> Result<Vec<f32>, ScoreError> {
        let mut sum = vec![0.0f64; self.length];
        let mut count = 0u32;
        for key in keys {
            match self.table.get(key, |stored| self.add(stored, &mut sum))? {
                None => {}
                Some(true) => count += 1,
                Some(false) => return Err(ScoreError::Damaged { key: key.to_owned() }),
            }
        }
        Ok(sum.into_iter().map(|sum| (sum / f64::from(count)) as f32).collect())
    }

    /// Adds a vector; false where it is of another length.
    fn add(&self, stored: &[u8], sum: &mut [f64]) -> bool {
        let (numbers, rest) = stored.as_chunks::<BYTES>();
        if numbers.len() != self.length || !rest.is_empty() {
            return false;
        }
        for (sum, &bytes) in sum.iter_mut().zip(numbers) {
            *sum += f64::from(f32::from_le_bytes(bytes));
        }
        true
    }
}
