//! `sort_results_score`: results by their best analysis, analyses within each result.

use std::cmp::Ordering;

use trapi::Operation;

use super::parameters;
use crate::message::{Analysis, Answer};
use crate::{Message, Note};

/// Which results come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The best.
    Descending,
    /// The worst.
    Ascending,
}

impl Order {
    /// Reads `ascending_or_descending` from the operation's parameters, else from the operation itself;
    /// absent, null or unusable means descending, the last with a note.
    pub fn of(operation: &Operation, notes: &mut Vec<Note>) -> Self {
        let name = "ascending_or_descending";
        let Some(raw) = parameters::value(operation, name) else { return Self::Descending };
        match raw.get() {
            r#""ascending""# => Self::Ascending,
            r#""descending""# | "null" => Self::Descending,
            _ => {
                notes.push(parameters::unusable(operation, name, raw, "descending"));
                Self::Descending
            }
        }
    }

    fn of_scores(self, one: f64, other: f64) -> Ordering {
        match self {
            Self::Ascending => one.total_cmp(&other),
            Self::Descending => other.total_cmp(&one),
        }
    }
}

/// Sorts analyses, then results by their best analysis; a missing score counts as 0, and equal scores
/// keep their order.
pub fn sort_results_score(message: &mut Message<'_>, order: Order) {
    for answer in &mut message.results {
        answer.analyses.sort_by(|one, other| order.of_scores(score(one), score(other)));
    }
    message.results.sort_by(|one, other| order.of_scores(best(one), best(other)));
}

fn score(analysis: &Analysis<'_>) -> f64 {
    // Adding 0 makes one zero of both: -0 would sort below it.
    analysis.score.map_or(0.0, |score| score.value + 0.0)
}

fn best(answer: &Answer<'_>) -> f64 {
    answer.analyses.iter().map(score).max_by(f64::total_cmp).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(order: Order) -> Vec<String> {
        let text = r#"{"message":{"results":[
            {"id":"a","analyses":[{"score":0.2},{"score":0.9}]},
            {"id":"b","analyses":[]},
            {"id":"c","analyses":[{"score":null},{"score":-1}]},
            {"id":"d","analyses":[{"score":0.95}]},
            {"id":"e","analyses":[{"score":"x"},{"score":-0.0}]}]}}"#;
        let mut message = crate::message::parse(text).unwrap();
        sort_results_score(&mut message, order);
        let ids = message.results.iter().map(|answer| answer.rest.get("id").unwrap().get().to_owned());
        ids.collect()
    }

    #[test]
    fn an_order_that_is_none_is_told() {
        let order = |value: &str| {
            let text = format!(
                r#"{{"message":{{"query_graph":{{}}}},"workflow":[{{"id":"sort_results_score","parameters":{{"ascending_or_descending":{value}}}}}]}}"#
            );
            let mut notes = Vec::new();
            let query = trapi::Query::parse(text.as_bytes()).unwrap();
            (Order::of(&query.workflow.unwrap()[0], &mut notes), notes.len())
        };
        assert_eq!(order(r#""ascending""#), (Order::Ascending, 0));
        assert_eq!(order("null"), (Order::Descending, 0));
        assert_eq!(order(r#""up""#), (Order::Descending, 1));
        assert_eq!(order("1"), (Order::Descending, 1));
    }

    #[test]
    fn results_go_by_their_best_analysis_and_equal_ones_keep_their_order() {
        assert_eq!(sorted(Order::Descending).join(""), r#""d""a""b""c""e""#);
        assert_eq!(sorted(Order::Ascending).join(""), r#""b""c""e""a""d""#);
    }
}
