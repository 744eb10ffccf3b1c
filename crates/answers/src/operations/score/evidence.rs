//! What an edge's attributes say for it, in the spellings that occur.
//!
//! Nothing an attribute holds is fatal: what cannot be read says nothing.

use serde_json::value::RawValue;

use super::super::attributes::{attributes, count_publications, number, primary_source, text};
use super::profile::{Profile, Property};
use crate::Message;
use crate::message::{Edge, NodeId};

/// How many publications there are altogether, for the count expected by chance.
const ALL_PUBLICATIONS: f64 = 27_840_000.0;

/// Weights from here on count as this: certainty would be a short circuit.
const CERTAIN: f64 = 0.999_999_9;

/// What an edge's attributes say for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Evidence {
    publications: f64,
    literature: Option<f64>,
    p_value: Option<f64>,
    affinity: Option<f64>,
}

/// How well an edge conducts: its pieces of evidence side by side.
pub(super) fn conductance(message: &Message<'_>, edge: &Edge<'_>, profile: Profile) -> f64 {
    let source = primary_source(&edge.sources, false);
    let source = source.as_deref().unwrap_or("unspecified");
    let evidence = Evidence::of(message, edge);
    let publications = Some(evidence.publications).filter(|count| *count != 0.0);
    let pieces = [
        (Property::PValue, evidence.p_value),
        (Property::Publications, publications),
        (Property::Literature, evidence.literature),
        (Property::Affinity, evidence.affinity),
    ];
    let weights = pieces.into_iter().filter_map(|(property, value)| {
        Some(profile.curve(source, property, value?) * profile.trust(source, property))
    });
    admittance(profile.base(source)) + weights.map(admittance).sum::<f64>()
}

/// From a weight between 0 and 1 to a conductance between 0 and many.
pub(super) fn admittance(weight: f64) -> f64 {
    let weight = if weight >= 1.0 { CERTAIN } else { weight };
    if weight > 0.0 { -1.0 / weight.ln() } else { 0.0 }
}

impl Evidence {
    /// Where an attribute is there twice, the last one counts.
    fn of(message: &Message<'_>, edge: &Edge<'_>) -> Self {
        let in_literature = edge.predicate.get() == r#""biolink:occurs_together_in_literature_with""#;
        let mut evidence = Self::default();
        for attribute in attributes(&edge.attributes) {
            let (kind, name) = (attribute.kind.as_ref(), attribute.name.as_ref());
            if name == "publications"
                || matches!(kind, "biolink:supporting_document" | "biolink:publications")
            {
                evidence.publications = attribute.value.map_or(0.0, count_publications);
            }
            if kind == "biolink:evidence_count" {
                evidence.publications = attribute.value.and_then(number).unwrap_or_default();
            }
            if is_p_value(kind, name) {
                evidence.p_value = attribute.value.and_then(first_number);
            }
            if in_literature && kind == "biolink:has_count" {
                let count = attribute.value.and_then(whole_number).unwrap_or_default();
                evidence.literature = Some(beyond_chance(message, edge, count));
            }
            if name == "affinity" {
                evidence.affinity = attribute.value.and_then(number);
            }
        }
        evidence
    }
}

fn is_p_value(kind: &str, name: &str) -> bool {
    let spelled = |text: &str| text.contains("p_value") || text.contains("p-value");
    spelled(kind)
        || spelled(name)
        || ["pValue", "fisher_exact_p", "gwas_pvalue"].into_iter().any(|spelling| name.contains(spelling))
}

/// How many publications name both ends of an edge, less those that would by chance.
fn beyond_chance(message: &Message<'_>, edge: &Edge<'_>, count: f64) -> f64 {
    let subject = node_publications(message, edge.subject) / ALL_PUBLICATIONS;
    let object = node_publications(message, edge.object) / ALL_PUBLICATIONS;
    (count / ALL_PUBLICATIONS - subject * object).max(0.0) * ALL_PUBLICATIONS
}

fn node_publications(message: &Message<'_>, node: NodeId) -> f64 {
    let Some(node) = message.nodes.get(node) else { return 0.0 };
    let mut counts = attributes(&node.attributes)
        .filter(|attribute| matches!(attribute.name.as_ref(), "omnicorp_article_count" | "num_publications"));
    counts.next().and_then(|attribute| attribute.value.and_then(whole_number)).unwrap_or_default()
}

fn first_number(raw: &RawValue) -> Option<f64> {
    let list: Result<Vec<&RawValue>, _> = serde_json::from_str(raw.get());
    list.map_or_else(|_| number(raw), |items| number(items.first()?))
}

/// A number without its fraction, or a text that is a whole number.
fn whole_number(raw: &RawValue) -> Option<f64> {
    if let Some(text) = text(raw) {
        let digits = text.trim();
        let digits = digits.strip_prefix(['+', '-']).unwrap_or(digits);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
    }
    number(raw).map(f64::trunc)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> &RawValue {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_may_be_texts() {
        assert_eq!(first_number(raw(r#"["1e-5",2]"#)), Some(1e-5));
        assert_eq!(first_number(raw("[]")), None);
        assert_eq!(number(raw("null")), None);
        assert_eq!(number(raw(r#""NaN""#)), None);
        assert_eq!(whole_number(raw(r#"" 12 ""#)), Some(12.0));
        assert_eq!(whole_number(raw(r#""1.5""#)), None);
        assert_eq!(whole_number(raw("1.5")), Some(1.0));
    }

    #[test]
    fn certainty_is_no_short_circuit() {
        assert!(admittance(0.0).abs() < 1e-300 && admittance(-0.3).abs() < 1e-300);
        assert!(admittance(2.0) < 1.1e7);
    }
}
