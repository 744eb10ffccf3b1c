//! How far an edge is believed, from its source and those attributes that are known to tell.

use std::borrow::Cow;

use foldhash::HashSet;
use serde_json::value::RawValue;

use super::super::attributes::{attributes, primary_source, text};
use crate::Message;
use crate::message::{Edge, List};

/// Belief in an edge that a person entered.
const MANUAL: f64 = 0.9;
/// Belief in an edge of a source that is not listed.
const OTHER_SOURCE: f64 = 0.5;
const SEMMEDDB: &str = "infores:semmeddb";

/// How far an attribute of that name is trusted.
fn trust(name: &str) -> Option<f64> {
    Some(match name {
        "MAGMA-pvalue" | "Genetics-quantile" | "pValue" | "feature_coefficient" | "CMAP similarity score" => {
            1.0
        }
        "probability"
        | "normalized_google_distance"
        | "probability_treats"
        | "observed_expected_ratio"
        | "chi_square"
        | "chi_square_pvalue"
        | "fisher_exact_test_p-value" => 0.8,
        "jaccard_index" | "paired_concept_frequency" | "Richards-effector-genes" => 0.5,
        _ => return None,
    })
}

/// Puts beliefs together, the strongest first: each takes its share of the doubt that is left.
pub(super) fn combine(base: f64, mut beliefs: Vec<f64>) -> f64 {
    beliefs.sort_by(|one, other| other.total_cmp(one));
    beliefs.into_iter().fold(base, |belief, more| belief + (1.0 - belief) * more)
}

/// The largest value of the one attribute that is judged by it.
pub(super) fn largest_jaccard(message: &Message<'_>) -> f64 {
    let values = message.edges.iter().flat_map(|(_, _, edge)| {
        let named = attributes(&edge.attributes).filter(|attribute| attribute.any_name() == "jaccard_index");
        named.filter_map(|attribute| attribute.value.and_then(number)).collect::<Vec<_>>()
    });
    values.filter(|value| value.is_finite()).reduce(f64::max).unwrap_or(1.0)
}

/// How far an edge is believed, from 0 to 1 unless its attributes are out of their range.
pub(super) fn confidence(name: &str, edge: &Edge<'_>, largest_jaccard: f64) -> f64 {
    let mut beliefs = Vec::new();
    let source = source(name, &edge.sources);
    for attribute in attributes(&edge.attributes) {
        if attribute.kind == "biolink:agent_type"
            && attribute.value.is_some_and(|raw| raw.get() == r#""manual_agent""#)
        {
            return MANUAL;
        }
        let belief = if attribute.kind == "biolink:publications" && source.as_deref() == Some(SEMMEDDB) {
            attribute.value.and_then(from_publications)
        } else {
            trust(attribute.any_name()).map(|trust| {
                let value = attribute.value.and_then(number);
                trust * value.map_or(0.0, |value| normal(attribute.any_name(), value, largest_jaccard))
            })
        };
        beliefs.extend(belief.filter(|belief| *belief > 0.0));
    }
    let base = match source.as_deref() {
        None | Some("") => 0.0,
        Some("infores:drugbank") => 0.99,
        Some("infores:drugcentral") => 0.93,
        Some("infores:text-mining-provider-targeted") => 0.85,
        Some(_) => OTHER_SOURCE,
    };
    combine(base, beliefs)
}

/// The source that the first or last part of the edge's name states, else the edge's own.
fn source<'m>(name: &'m str, sources: &'m List<'_>) -> Option<Cow<'m, str>> {
    let parts = [name.split("--").next(), name.rsplit("--").next()];
    let stated = parts.into_iter().flatten().find(|part| name.contains("--") && part.starts_with("infores:"));
    stated.map(Cow::Borrowed).or_else(|| primary_source(sources, true))
}

/// A number, a text that is one, or a truth value.
fn number(raw: &RawValue) -> Option<f64> {
    let value = match (raw.get(), text(raw)) {
        ("true", _) => 1.0,
        ("false", _) => 0.0,
        (_, Some(text)) if text == "no value!" => 0.0,
        (_, Some(text)) => text.trim().parse().ok()?,
        (number, None) => number.parse().ok()?,
    };
    (!f64::is_nan(value)).then_some(value)
}

fn logistic(steepness: f64, midpoint: f64, value: f64) -> f64 {
    1.0 / (1.0 + (-steepness * (value - midpoint)).exp())
}

/// A p-value on a logistic curve of its logarithm; none is better than 0.
fn from_p_value(steepness: f64, midpoint: f64, least: f64, value: f64) -> f64 {
    if value <= least { 1.0 } else { logistic(steepness, midpoint, -value.ln()) }
}

/// From an attribute's value to its range from 0 to 1.
fn normal(name: &str, value: f64, largest_jaccard: f64) -> f64 {
    match name {
        "probability" => logistic(20.0, 0.8, value),
        "normalized_google_distance" => logistic(-9.0, 0.6, value),
        "jaccard_index" if largest_jaccard > 0.0 => value / largest_jaccard,
        "probability_treats" => logistic(15.0, 0.6, value),
        "paired_concept_frequency" => logistic(2000.0, 0.002, value),
        "observed_expected_ratio" => logistic(2.0, 2.0, value),
        "chi_square" | "chi_square_pvalue" => from_p_value(0.03, 200.0, 0.0, value),
        "MAGMA-pvalue" | "pValue" => from_p_value(0.849, 4.97, 0.0, value),
        "fisher_exact_test_p-value" => from_p_value(3.0, 2.7, f64::EPSILON, value),
        "feature_coefficient" => logistic(2.75, 0.15, value.abs().ln()),
        "CMAP similarity score" => (value / 100.0).abs(),
        _ => value,
    }
}

/// Publications count for one source only: five are half way to certainty.
#[expect(clippy::cast_precision_loss, reason = "nobody lists 2^53 publications")]
fn from_publications(raw: &RawValue) -> Option<f64> {
    let count = if text(raw).is_some() {
        1
    } else {
        let list: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
        list.into_iter().map(RawValue::get).collect::<HashSet<_>>().len()
    };
    Some(match count {
        0 => 0.0001,
        count => logistic(3.16993, 1.60943, (count as f64).ln()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beliefs_share_what_doubt_is_left() {
        assert!((combine(0.5, vec![0.5, 0.5]) - 0.875).abs() < 1e-15);
    }

    #[test]
    fn odd_values_say_nothing() {
        let raw = |text| serde_json::from_str::<&RawValue>(text).unwrap();
        for text in ["null", "[0.9]", r#""x""#, r#""nan""#, "{}"] {
            assert_eq!(number(raw(text)), None, "{text}");
        }
        assert_eq!(number(raw(r#""inf""#)), Some(f64::INFINITY));
    }

    #[test]
    fn a_name_may_state_the_source() {
        let sources = List::default();
        assert_eq!(source("a--infores:x", &sources).as_deref(), Some("infores:x"));
        assert_eq!(source("infores:x", &sources).as_deref(), None);
    }
}
