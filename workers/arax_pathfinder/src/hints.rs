//! What SQLite files know about nodes: the normalised Google distance of pairs, and how many neighbours each has.
//!
//! SQLite calls block, so they run where they may; one that nobody waits for any more ends after its current row.

use std::path::Path;
use std::sync::Arc;

use foldhash::HashMap;
use paths::Hints;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use serde::Deserialize;
use tokio::sync::oneshot;

/// Distances of one node to others: a list of pairs as JSON.
pub(crate) const DISTANCES: &str = "SELECT ngd FROM curie_ngd WHERE curie = ?1";
/// How many neighbours of each category a node has: an object as JSON, in which everything counts as
/// `biolink:NamedThing` too.
pub(crate) const DEGREES: &str = "SELECT neighbor_counts FROM neighbors WHERE id = ?1";

/// Files with hints; by default none. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files(Option<Arc<Both>>);

#[derive(Debug)]
struct Both {
    distances: Database,
    degrees: Database,
}

/// A file that is never written to, and how it is asked about a node.
#[derive(Debug)]
pub(crate) struct Database {
    uri: String,
    query: &'static str,
}

impl Database {
    /// Makes sure that the file can be asked.
    pub(crate) fn open(path: &Path, query: &'static str) -> rusqlite::Result<Self> {
        let path = path.canonicalize().map_err(|_| rusqlite::Error::InvalidPath(path.to_owned()))?;
        let mut uri =
            url::Url::from_file_path(&path).map_err(|()| rusqlite::Error::InvalidPath(path.clone()))?;
        // what is never written needs no locks and no journal
        uri.set_query(Some("mode=ro&immutable=1"));
        let database = Self { uri: uri.into(), query };
        database.connect()?.prepare(query)?;
        Ok(database)
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(&self.uri, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
    }

    /// What `read` understands of the rows of `ids`, until it is not `wanted` any more.
    fn rows<T>(
        &self,
        ids: Vec<String>,
        wanted: impl Fn() -> bool,
        read: impl Fn(&str) -> Option<T>,
    ) -> rusqlite::Result<HashMap<String, T>> {
        let connection = self.connect()?;
        let mut statement = connection.prepare(self.query)?;
        let mut rows = HashMap::default();
        for id in ids {
            if !wanted() {
                break;
            }
            let text: Option<Option<String>> = statement.query_row([&id], |row| row.get(0)).optional()?;
            if let Some(value) = text.flatten().and_then(|text| read(&text)) {
                rows.insert(id, value);
            }
        }
        Ok(rows)
    }
}

impl Files {
    pub(crate) fn new(distances: Database, degrees: Database) -> Self {
        Self(Some(Arc::new(Both { distances, degrees })))
    }

    /// Asks one of the files. An error costs the hint.
    async fn rows<T: Send + 'static>(
        &self,
        which: fn(&Both) -> &Database,
        ids: Vec<String>,
        read: fn(&str) -> Option<T>,
    ) -> HashMap<String, T> {
        let Some(both) = self.0.clone() else { return HashMap::default() };
        let (tell, told) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            let database = which(&both);
            let rows = database.rows(ids, || !tell.is_closed(), read).unwrap_or_else(|error| {
                tracing::warn!("{} cannot be asked: {error}", database.uri);
                HashMap::default()
            });
            // whoever asked may have gone
            let _ = tell.send(rows);
        });
        told.await.unwrap_or_default()
    }
}

impl Hints for Files {
    async fn distances(&self, node: &str) -> HashMap<String, f64> {
        let rows = self.rows(|both| &both.distances, vec![node.to_owned()], distances).await;
        rows.into_values().next().unwrap_or_default()
    }

    async fn degrees(&self, nodes: &[String]) -> HashMap<String, u64> {
        self.rows(|both| &both.degrees, nodes.to_vec(), degree).await
    }
}

/// Pairs of a node and its distance. Python writes them, as JSON or as a literal of its own.
fn distances(text: &str) -> Option<HashMap<String, f64>> {
    let read = |text: &str| serde_json::from_str::<Vec<(String, Option<f64>)>>(text).ok();
    let pairs = read(text).or_else(|| read(&as_json(text)))?;
    Some(pairs.into_iter().filter_map(|(id, distance)| Some((id, distance?))).collect())
}

/// A Python literal of lists, tuples, texts without quotes in them and numbers as JSON.
fn as_json(literal: &str) -> String {
    let json = literal.replace('\'', "\"").replace('(', "[").replace(')', "]");
    ["-Infinity", "Infinity", "NaN", "None", "inf", "nan"]
        .iter()
        .fold(json, |json, &number| json.replace(&format!(" {number}"), " null"))
}

#[derive(Deserialize)]
struct NeighbourCounts {
    #[serde(rename = "biolink:NamedThing")]
    all: u64,
}

fn degree(text: &str) -> Option<u64> {
    serde_json::from_str(text).ok().map(|NeighbourCounts { all }| all)
}
