//! `filter_results_top_n` and `filter_analyses_top_n`: the first so many stay.

use trapi::Operation;

use super::parameters;
use crate::{Message, Note};

/// How many stay when the operation does not say.
const DEFAULT: usize = 500;

/// How many results or analyses stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many.
    Of(usize),
    /// All.
    None,
}

impl Limit {
    /// Reads `max_results` or `max_analyses` from the operation's parameters, else from the operation
    /// itself; null keeps all, absent or unusable means the default of 500, the latter with a note.
    pub fn of(operation: &Operation, name: &str, notes: &mut Vec<Note>) -> Self {
        match parameters::value(operation, name) {
            None => Self::Of(DEFAULT),
            Some(raw) if raw.get() == "null" => Self::None,
            Some(raw) => Self::Of(parameters::whole_number(raw).unwrap_or_else(|| {
                notes.push(parameters::unusable(operation, name, raw, &DEFAULT.to_string()));
                DEFAULT
            })),
        }
    }

    fn apply<T>(self, list: &mut Vec<T>) {
        if let Self::Of(limit) = self {
            list.truncate(limit);
        }
    }
}

/// Keeps the first results.
pub fn filter_results_top_n(message: &mut Message<'_>, limit: Limit) {
    limit.apply(&mut message.results);
}

/// Keeps the first analyses of every result.
pub fn filter_analyses_top_n(message: &mut Message<'_>, limit: Limit) {
    for answer in &mut message.results {
        limit.apply(&mut answer.analyses);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(operation: &str) -> (Limit, Option<String>) {
        let body = format!(
            r#"{{"message":{{"query_graph":{{}}}},"workflow":[{{"id":"filter_results_top_n"{operation}}}]}}"#
        );
        let query = trapi::Query::parse(body.as_bytes()).unwrap();
        let mut notes = Vec::new();
        let limit = Limit::of(&query.workflow.unwrap()[0], "max_results", &mut notes);
        (limit, notes.pop().map(|note| note.message))
    }

    #[test]
    fn the_limit_is_read_from_the_parameters_or_the_operation() {
        let told =
            |value: &str| Some(format!("filter_results_top_n: `max_results` cannot be {value}; 500 applies"));
        assert_eq!(limit(""), (Limit::Of(500), None));
        assert_eq!(limit(r#","max_results":3"#), (Limit::Of(3), None));
        assert_eq!(limit(r#","parameters":{"max_results":0},"max_results":3"#), (Limit::Of(0), None));
        assert_eq!(limit(r#","parameters":{"max_results":null}"#), (Limit::None, None));
        assert_eq!(limit(r#","parameters":{"max_results":"many"}"#), (Limit::Of(500), told("\"many\"")));
        assert_eq!(limit(r#","max_results":-1"#), (Limit::Of(500), told("-1")));
        assert_eq!(limit(r#","max_results":2.5"#), (Limit::Of(500), told("2.5")));
        assert_eq!(limit(r#","max_results":2.0"#), (Limit::Of(2), None));
        assert_eq!(limit(r#","max_results":1e300"#), (Limit::Of(usize::MAX), None));
    }
}
