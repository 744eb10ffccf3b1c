//! What operations need beside the message: files, opened once.

use literature::Omnicorp;
use path_model::Model;
use runtime::{Settings, StartupError};

/// The files that are configured.
pub(crate) struct Resources {
    /// For `aragorn.omnicorp`.
    pub(crate) literature: Option<Omnicorp>,
    /// For `score_paths`.
    pub(crate) path_model: Option<Model>,
}

impl Resources {
    /// Opens what the settings name.
    ///
    /// # Errors
    /// [`StartupError::Load`] names the setting whose files cannot be used.
    pub(crate) fn open(settings: &Settings) -> Result<Self, StartupError> {
        let failed = |what: &str, source| StartupError::Load { what: what.to_owned(), source };
        let files = settings.omnicorp.as_ref();
        let literature = files.map(|files| Omnicorp::open(&files.curies, &files.shared_counts)).transpose();
        let literature = literature.map_err(|error| {
            failed("OMNICORP_CURIES_LMDB_PATH, OMNICORP_SHARED_COUNTS_LMDB_PATH", error.into())
        })?;
        let path_model = settings.path_model_dir.as_deref().map(Model::open).transpose();
        let path_model = path_model.map_err(|error| failed("PATHFINDER_EMBEDDINGS_DIR", error.into()))?;
        Ok(Self { literature, path_model })
    }
}
