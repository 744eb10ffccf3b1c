//! Real LMDB files: recorded ones where they are beside the workspace, and one of our own everywhere.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use answers::message::parse;
use answers::operations::{Literature, Named, aragorn_omnicorp};
use lmdb::LmdbError;
use serde_json::{Value, json};
use shepherd_literature::{LiteratureError, Omnicorp};
use testkit::lmdb::file;

fn recorded() -> Option<PathBuf> {
    let vectors = std::env::var_os("VECTORS_DIR").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let folder = vectors.unwrap_or_else(beside).join("omnicorp");
    folder.join("lmdb").is_dir().then_some(folder)
}

fn open(folder: &Path) -> (Omnicorp, Value) {
    let lmdb = folder.join("lmdb");
    let omnicorp = Omnicorp::open(&lmdb.join("curies.lmdb"), &lmdb.join("shared_counts.lmdb")).unwrap();
    let listing = std::fs::read_to_string(lmdb.join("content.json")).unwrap();
    (omnicorp, serde_json::from_str(&listing).unwrap())
}

#[test]
fn counts_are_read_as_they_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let node: &[u8] = br#"{"pmc": 70, "index": 2147483650}"#;
    let curies = file(folder.path(), "curies.lmdb", &[("A:1", node), ("A:2", b"oops")]);
    let counts: [(&str, &[u8]); 3] = [("1_2", &[0x70, 0x17]), ("1_3", &[5]), ("2_3", &[1; 9])];
    let shared = file(folder.path(), "shared.lmdb", &counts);
    let omnicorp = Omnicorp::open(&curies, &shared).unwrap();
    assert_eq!(omnicorp.node("A:1").unwrap(), Some(Named { publications: 70, index: 2_147_483_650 }));
    assert_eq!(omnicorp.node("B:1").unwrap(), None);
    assert_eq!(omnicorp.node("").unwrap(), None);
    assert_eq!(omnicorp.node(&"x".repeat(5000)).unwrap(), None);
    assert!(matches!(omnicorp.node("A:2"), Err(LiteratureError::Damaged { key }) if key == "A:2"));
    assert_eq!(omnicorp.shared(1, 2).unwrap(), Some(6000));
    assert_eq!(omnicorp.shared(1, 3).unwrap(), Some(5));
    assert_eq!(omnicorp.shared(3, 4).unwrap(), None);
    assert!(matches!(omnicorp.shared(2, 3), Err(LiteratureError::Damaged { .. })));
}

#[test]
fn what_is_no_lmdb_file_is_refused_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    std::fs::write(&path, "x".repeat(20_000)).unwrap();
    let missing = folder.path().join("missing");
    for path in [&path, &missing] {
        let error = Omnicorp::open(path, path).unwrap_err();
        assert!(
            matches!(error, LiteratureError::Lmdb(LmdbError::Open { path: named, .. }) if named == *path)
        );
    }
    assert!(!missing.exists(), "nothing is created");
}

#[test]
fn recorded_files_hold_what_their_listing_says() {
    let Some(folder) = recorded() else {
        println!("SKIPPED: no recorded files");
        return;
    };
    let (omnicorp, listing) = open(&folder);
    for (curie, known) in listing["curies"].as_object().unwrap() {
        let node = omnicorp.node(curie).unwrap().unwrap();
        assert_eq!(json!({ "pmc": node.publications, "index": node.index }), *known, "{curie}");
    }
    for (pair, known) in listing["shared_counts"].as_object().unwrap() {
        let (smaller, larger) = pair.split_once('_').unwrap();
        let count = omnicorp.shared(smaller.parse().unwrap(), larger.parse().unwrap()).unwrap();
        assert_eq!(count, known["count"].as_u64(), "{pair}");
    }
}

/// The recorded content in plain sight.
struct Listing(Value);

impl Literature for Listing {
    type Error = std::convert::Infallible;

    fn node(&self, curie: &str) -> Result<Option<Named>, Self::Error> {
        let known = &self.0["curies"][curie];
        let named = known["pmc"].as_u64().zip(known["index"].as_u64());
        Ok(named.map(|(publications, index)| Named { publications, index }))
    }

    fn shared(&self, smaller: u64, larger: u64) -> Result<Option<u64>, Self::Error> {
        Ok(self.0["shared_counts"][format!("{smaller}_{larger}")]["count"].as_u64())
    }
}

fn written(message: &answers::Message<'_>) -> String {
    let mut out = Vec::new();
    message.write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// That what comes out is what was recorded is tested with the listing, where the vectors are compared.
#[test]
fn recorded_messages_come_out_as_with_the_listing() {
    let Some(folder) = recorded() else {
        println!("SKIPPED: no recorded files");
        return;
    };
    let (omnicorp, listing) = open(&folder);
    let listing = Listing(listing);
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut compared = 0;
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
        let vector: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let input = vector["input"]["message"].to_string();
        let (Ok(mut from_files), Ok(mut from_listing)) = (parse(&input), parse(&input)) else { continue };
        aragorn_omnicorp(&mut from_files, &omnicorp).unwrap();
        let Ok(_) = aragorn_omnicorp(&mut from_listing, &listing);
        assert_eq!(written(&from_files), written(&from_listing), "{}", path.display());
        compared += 1;
    }
    assert!(compared > 0);
}
