//! What this service can do, told to programs (`/openapi.json`) and people (`/docs`).
//!
//! The paths come from the handlers, so a route without a description cannot be added unseen. The registry
//! of the network wants one document per persona: it is the whole one with the persona filled in.

mod examples;
pub(crate) mod schemas;

use runtime::Settings;
use serde_json::{Value, json};
use utoipa::OpenApi;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{ParameterIn, PathItem};
use utoipa::openapi::{Info, OpenApi as Document, RefOr, Server};
use utoipa_swagger_ui::{Config, SwaggerUi, Url};

use crate::ara::Ara;

pub(crate) use examples::{example_async_query, example_query, test_data};

#[derive(OpenApi)]
#[openapi(components(schemas(Ara)), tags(
    (name = "translator", description = "TRAPI: questions and answers"),
    (name = "jobs", description = "How far an accepted query is"),
    (name = "retriever", description = "What Retriever posts"),
))]
struct Described;

/// The document before its paths are known.
pub(crate) fn base() -> Document {
    Described::openapi()
}

/// A document and where it is served.
struct Served {
    name: &'static str,
    path: &'static str,
    document: Value,
}

/// The whole document and one per persona.
pub(crate) struct Documents(Vec<Served>);

impl Documents {
    pub(crate) fn new(paths: &Document, settings: &Settings) -> Self {
        let mut whole = paths.clone();
        whole.info = info(None, settings);
        whole.servers = Some(vec![server(settings)]);
        let mut all = vec![Served { name: "all personas", path: "/openapi.json", document: value(&whole) }];
        for &ara in Ara::ALL {
            let mut one = whole.clone();
            one.info = info(Some(ara), settings);
            let paths = whole.paths.paths.iter().filter_map(|(path, item)| of_ara(path, item, ara));
            one.paths.paths = paths.collect();
            all.push(Served { name: ara.as_str(), path: ara.openapi_path(), document: value(&one) });
        }
        Self(all)
    }

    /// The documents, and the page that shows them to people, with its scripts.
    pub(crate) fn ui(self) -> SwaggerUi {
        let urls = self.0.iter().map(|served| Url::new(served.name, served.path));
        let config = Config::new(urls).try_it_out_enabled(true).validator_url("none");
        self.0.into_iter().fold(SwaggerUi::new("/docs").config(config), |ui, served| {
            ui.external_url_unchecked(Url::new(served.name, served.path), served.document)
        })
    }
}

/// The document as JSON; an empty one where it cannot be written, which no document of ours is.
fn value(document: &Document) -> Value {
    serde_json::to_value(document).unwrap_or_default()
}

/// A path with the persona filled in; `None` for one that knows no persona.
fn of_ara(path: &str, item: &PathItem, ara: Ara) -> Option<(String, PathItem)> {
    let rest = path.strip_prefix("/{ara}/")?;
    let mut item = item.clone();
    for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
        if let Some(parameters) = &mut operation.parameters {
            parameters.retain(|one| match one {
                RefOr::T(one) => one.name != "ara" || one.parameter_in != ParameterIn::Path,
                RefOr::Ref(_) => true,
            });
        }
    }
    Some((format!("/{}/{rest}", ara.as_str()), item))
}

fn server(settings: &Settings) -> Server {
    let extensions = [
        ("x-maturity".to_owned(), Value::from(settings.server_maturity.as_str())),
        ("x-location".to_owned(), Value::from(settings.server_location.as_str())),
    ];
    let mut server = Server::new(settings.server_url.trim_end_matches('/'));
    server.description = Some(format!("Shepherd, {}", settings.server_maturity));
    server.extensions = Some(extensions.into_iter().collect::<Extensions>());
    server
}

fn info(ara: Option<Ara>, settings: &Settings) -> Info {
    let title = ara.map_or_else(|| "Shepherd".to_owned(), |ara| format!("Shepherd: {}", ara.as_str()));
    let mut info = Info::new(title, env!("CARGO_PKG_VERSION").to_owned());
    info.description = Some(
        "Takes questions of biomedicine in TRAPI, asks Retriever many smaller ones, and answers with what \
         came back: merged, ranked and cleaned."
            .to_owned(),
    );
    let infores =
        ara.map_or_else(|| "infores:shepherd".to_owned(), |ara| format!("infores:shepherd-{}", ara.as_str()));
    let translator = json!({
        "component": "ARA",
        "team": [ara.map_or("Ranking Agent", Ara::team)],
        "biolink-version": settings.biolink_version,
        "infores": infores,
    });
    let base = settings.server_url.trim_end_matches('/');
    let trapi = json!({
        "version": "1.6.0",
        "asyncquery": true,
        "multicuriequery": true,
        "pathfinderquery": ara.is_none_or(Ara::finds_paths),
        "operations": Ara::trapi_operations(),
        "test_data_location": { "default": { "url": format!("{base}/test_data.json") } },
    });
    let extensions = [("x-translator".to_owned(), translator), ("x-trapi".to_owned(), trapi)];
    info.extensions = Some(extensions.into_iter().collect::<Extensions>());
    info
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents() -> Documents {
        let variables = [("SERVER_URL", "https://shepherd.example.org/"), ("SERVER_MATURITY", "testing")];
        Documents::new(&crate::app::described(), &Settings::from_variables(variables).unwrap())
    }

    fn document(path: &str) -> Value {
        documents().0.into_iter().find(|served| served.path == path).unwrap().document
    }

    #[test]
    fn whole_document_describes_every_route() {
        let document = document("/openapi.json");
        assert_eq!(document["openapi"], "3.1.0");
        let paths: Vec<&str> = document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
        for path in [
            "/{ara}/asyncquery",
            "/{ara}/query",
            "/{ara}/callback/{callback_id}",
            "/{ara}/asyncquery_status/{job_id}",
            "/{ara}/response/{job_id}",
            "/asyncquery_status/{job_id}",
            "/response/{job_id}",
            "/meta_knowledge_graph",
            "/{ara}/meta_knowledge_graph",
        ] {
            assert!(paths.contains(&path), "{path} is not among {paths:?}");
        }
        assert_eq!(document["servers"][0]["url"], "https://shepherd.example.org");
        assert_eq!(document["servers"][0]["x-maturity"], "testing");
        assert_eq!(document["info"]["x-trapi"]["version"], "1.6.0");
    }

    #[test]
    fn document_of_a_persona_has_its_own_paths_only() {
        let document = document("/aragorn/openapi.json");
        let paths = document["paths"].as_object().unwrap();
        assert!(paths.keys().all(|path| path.starts_with("/aragorn/")), "{:?}", paths.keys());
        let parameters = &paths["/aragorn/asyncquery_status/{job_id}"]["get"]["parameters"];
        assert_eq!(parameters.as_array().unwrap().len(), 1);
        assert_eq!(document["info"]["x-translator"]["infores"], "infores:shepherd-aragorn");
        assert_eq!(document["info"]["x-trapi"]["pathfinderquery"], true);
    }
}
