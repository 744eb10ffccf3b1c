//! `filter_results_top_n` and `filter_analyses_top_n`: the first so many stay.

use trapi::Operation;

use crate::Message;

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
    /// itself; null keeps all, absent or unusable means the default of 500.
    pub fn of(operation: &Operation, name: &str) -> Self {
        let raw = operation.parameters.get(name).or_else(|| operation.extra.get(name));
        match raw.map(|raw| raw.get()) {
            None => Self::Of(DEFAULT),
            Some("null") => Self::None,
            Some(text) => Self::Of(text.parse().unwrap_or(DEFAULT)),
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

    fn limit(operation: &str) -> Limit {
        let body = format!(
            r#"{{"message":{{"query_graph":{{}}}},"workflow":[{{"id":"filter_results_top_n"{operation}}}]}}"#
        );
        let query = trapi::Query::parse(body.as_bytes()).unwrap();
        Limit::of(&query.workflow.unwrap()[0], "max_results")
    }

    #[test]
    fn the_limit_is_read_from_the_parameters_or_the_operation() {
        assert_eq!(limit(""), Limit::Of(500));
        assert_eq!(limit(r#","max_results":3"#), Limit::Of(3));
        assert_eq!(limit(r#","parameters":{"max_results":0},"max_results":3"#), Limit::Of(0));
        assert_eq!(limit(r#","parameters":{"max_results":null}"#), Limit::None);
        assert_eq!(limit(r#","parameters":{"max_results":"many"}"#), Limit::Of(500));
        assert_eq!(limit(r#","max_results":-1"#), Limit::Of(500));
    }
}
