//! Why there is no model, or no score.

use std::path::{Path, PathBuf};

use lmdb::LmdbError;

/// A model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// There is nothing to judge by.
    #[error("{directory} holds neither mlp.safetensors nor classifier.json")]
    Empty {
        /// The directory.
        directory: PathBuf,
    },
    /// A file cannot be read.
    #[error("{path} cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A file is too large to be a model.
    #[error("{path} is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit_bytes: u64,
    },
    /// The embeddings cannot be opened.
    #[error(transparent)]
    Lmdb(#[from] LmdbError),
    /// A file is of its kind, and still of no use.
    #[error("{path}: {reason}")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: Unusable,
    },
    /// Two files do not fit together.
    #[error("{what} needs {wanted} numbers and is given {given}")]
    Mismatch {
        /// What takes the numbers.
        what: &'static str,
        /// How many it needs.
        wanted: usize,
        /// How many there are.
        given: usize,
    },
}

/// Why a file is of no use.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// It is no JSON of that form.
    #[error("not a model that XGBoost saved: {0}")]
    Json(#[from] serde_json::Error),
    /// It is no safetensors file.
    #[error("not a safetensors file: {0}")]
    Tensors(#[from] safetensors::SafeTensorError),
    /// A tensor has another name than `layers.N.weight` or `layers.N.bias`.
    #[error("there is no use for the tensor `{0}`")]
    UnknownTensor(String),
    /// A tensor has another type than single precision, or another shape than its layer needs.
    #[error("the tensor `{name}` is {found}, not {expected}")]
    Tensor {
        /// The tensor.
        name: String,
        /// What it is.
        found: String,
        /// What is needed.
        expected: String,
    },
    /// There are no layers.
    #[error("there are no layers in it")]
    NoLayers,
    /// The first vector is no list of numbers.
    #[error("{bytes} bytes are no vector in single precision")]
    Vector {
        /// How many bytes are stored for the first key.
        bytes: usize,
    },
    /// A model of another kind.
    #[error("{what} `{found}` is not supported, only {supported}")]
    Unsupported {
        /// Which of its parameters.
        what: &'static str,
        /// What it is.
        found: String,
        /// What it must be.
        supported: &'static str,
    },
    /// A tree that is none.
    #[error("tree {tree}: {problem}")]
    Tree {
        /// Which tree, from 0.
        tree: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl Unusable {
    pub(crate) fn at(self, path: &Path) -> ModelError {
        ModelError::Unusable { path: path.to_owned(), reason: self }
    }
}

/// A path cannot be scored.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    /// A vector cannot be looked up.
    #[error("a vector cannot be looked up: {0}")]
    Lmdb(#[from] LmdbError),
    /// A vector is of another length than the first.
    #[error("the vector of {key} is damaged")]
    Damaged {
        /// Of what.
        key: String,
    },
}

/// Largest file of weights or trees that is read, in bytes.
const LIMIT_BYTES: u64 = 512 << 20;

/// The content of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, ModelError> {
    let failed = |source| ModelError::Read { path: path.to_owned(), source };
    if std::fs::metadata(path).map_err(failed)?.len() > LIMIT_BYTES {
        return Err(ModelError::TooLarge { path: path.to_owned(), limit_bytes: LIMIT_BYTES });
    }
    std::fs::read(path).map_err(failed)
}
