//! Where real messages are and how they are packed.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The folder of real messages, where there is one.
pub(crate) fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("VECTORS_DIR").map(|vectors| Path::new(&vectors).join("../data/trapi"));
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/trapi");
    [named, Some(beside)].into_iter().flatten().find(|path| path.is_dir())
}

/// The text of one of them.
pub(crate) fn text(file: &Path) -> String {
    let file_reader = File::open(file).unwrap();
    let mut text = String::new();
    if file.extension().is_some_and(|extension| extension == "zst") {
        zstd::stream::read::Decoder::new(file_reader).unwrap().read_to_string(&mut text).unwrap();
    } else {
        flate2::read::GzDecoder::new(file_reader).read_to_string(&mut text).unwrap();
    }
    text
}
