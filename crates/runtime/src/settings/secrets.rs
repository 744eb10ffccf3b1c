//! Settings that are secret, or may hold a secret: they are shown as a mask.

use state::RedisUrl;

use super::reader::{Problem, Reader, Shown};

const MASK: &str = "********";

impl Reader {
    pub(super) fn secret(&mut self, name: &'static str, about: &'static str) -> Option<String> {
        let secret = self.raw(name);
        let value = secret.as_ref().map_or("", |_| MASK).to_owned();
        self.shown.push(Shown { name, value, default: String::new(), about });
        secret
    }

    /// A secret that a file holds, for which `instead` stands otherwise: orchestrators mount secrets as files.
    pub(super) fn secret_file(
        &mut self,
        name: &'static str,
        instead: &'static str,
        about: &'static str,
    ) -> Option<String> {
        let path = self.raw(name);
        let value = path.clone().unwrap_or_default();
        self.shown.push(Shown { name, value, default: String::new(), about });
        let path = path?;
        if self.raw(instead).is_some() {
            self.problem(name, &format!("nothing beside {instead}, of which one is enough"));
        }
        // the line end of an editor is not part of a password
        let secret =
            std::fs::read_to_string(&path).map(|text| text.trim_end_matches(['\r', '\n']).to_owned());
        match secret {
            Ok(secret) if !secret.is_empty() => Some(secret),
            Ok(_) => {
                self.problem(name, "a file that is not empty");
                None
            }
            Err(error) => {
                self.problem(name, &format!("a file that can be read ({error})"));
                None
            }
        }
    }

    /// May hold a password, so only its presence is shown.
    pub(super) fn redis_url(&mut self, name: &'static str, about: &'static str) -> Option<RedisUrl> {
        let text = self.raw(name);
        let url = text.as_deref().and_then(RedisUrl::parse);
        if text.is_some() && url.is_none() {
            let expected = "redis://host:port, redis-sentinel://host:port,host:port/name or \
                            redis-cluster://host:port,host:port";
            let problem =
                Problem { name: name.to_owned(), found: MASK.to_owned(), expected: expected.to_owned() };
            self.problems.push(problem);
        }
        let value = text.map_or("", |_| MASK).to_owned();
        self.shown.push(Shown { name, value, default: String::new(), about });
        url
    }
}

/// A URL without the user and the password in it; any other text as it is.
pub(super) fn without_credentials(text: &str) -> String {
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{MASK}@{rest}"),
        _ => text.to_owned(),
    }
}
