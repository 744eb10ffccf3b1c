//! What each kind of evidence weighs, by the source that it comes from.

use trapi::Operation;

use crate::Note;
use crate::operations::parameters;

/// A set of weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// All kinds of evidence; the default.
    #[default]
    Blended,
    /// Curated knowledge first.
    Curated,
    /// Correlations first.
    Correlated,
    /// Clinical knowledge first.
    Clinical,
}

impl Profile {
    /// Reads `profile` from the operation's parameters, else from the operation itself; absent, null or
    /// unusable means the blended one, the last with a note.
    pub fn of(operation: &Operation, notes: &mut Vec<Note>) -> Self {
        let raw = parameters::value(operation, "profile").filter(|raw| raw.get() != "null");
        let Some(raw) = raw else { return Self::default() };
        let name: Option<String> = serde_json::from_str(raw.get()).ok();
        name.and_then(|name| Self::named(&name)).unwrap_or_else(|| {
            notes.push(parameters::unusable(operation, "profile", raw, "blended"));
            Self::default()
        })
    }

    /// The profile of that name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "blended" => Some(Self::Blended),
            "curated" => Some(Self::Curated),
            "correlated" => Some(Self::Correlated),
            "clinical" => Some(Self::Clinical),
            _ => None,
        }
    }

    /// How much a value counts as evidence: from 0 to 1 for values that make sense.
    pub fn curve(self, source: &str, property: Property, value: f64) -> f64 {
        let curve = match self {
            Self::Blended => blended_curve(source, property),
            Self::Curated | Self::Correlated | Self::Clinical => match property {
                Property::PValue => OTHER_P_VALUE,
                // Kinds that these profiles do not know are taken for counts.
                _ => OTHER_COUNT,
            },
        };
        curve.at(value)
    }

    /// How far a source is trusted in a kind of evidence, from 0 to 1.
    pub fn trust(self, source: &str, property: Property) -> f64 {
        match self {
            Self::Blended => blended_trust(source, property),
            Self::Curated | Self::Correlated | Self::Clinical => match (source, property) {
                ("infores:automat-pharos", Property::Publications) => 0.7,
                ("infores:aragorn-ranker-ara", Property::Publications) => 0.25,
                ("infores:semmeddb", Property::Publications) => 0.05,
                (_, Property::Publications) => 1.0,
                _ => 0.0,
            },
        }
    }

    /// What an edge weighs for being there at all.
    pub fn base(self, source: &str) -> f64 {
        match (self, source) {
            (Self::Blended, "infores:omnicorp") => 0.0,
            (Self::Blended, "infores:drugcentral") => 5e-2,
            (Self::Blended, "infores:hetionet" | "infores:icees-kg" | "infores:gwas-catalog") => 3e-2,
            (Self::Blended, "infores:text-mining-provider-targeted") => 5e-3,
            _ => 1e-2,
        }
    }
}

/// A kind of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// A number of publications.
    Publications,
    /// A number of publications that name both ends, beyond chance.
    Literature,
    /// A p-value.
    PValue,
    /// A binding affinity.
    Affinity,
    /// A text miner's confidence; it has a curve, but no score uses it.
    Confidence,
    /// Any other.
    Unknown,
}

impl Property {
    /// The property of that name.
    pub fn named(name: &str) -> Self {
        match name {
            "publications" => Self::Publications,
            "literature_co-occurrence" => Self::Literature,
            "p_value" => Self::PValue,
            "affinity" => Self::Affinity,
            "confidence_score" => Self::Confidence,
            _ => Self::Unknown,
        }
    }
}

/// A logistic curve from a value to a weight.
#[derive(Clone, Copy)]
struct Curve {
    lower: f64,
    upper: f64,
    midpoint: f64,
    rate: f64,
}

impl Curve {
    const fn new(lower: f64, upper: f64, midpoint: f64, rate: f64) -> Self {
        Self { lower, upper, midpoint, rate }
    }

    fn at(self, value: f64) -> f64 {
        self.lower + (self.upper - self.lower) / (1.0 + (-self.rate * (value - self.midpoint)).exp())
    }
}

const NOTHING: Curve = Curve::new(0.0, 0.0, 0.0, 0.0);
const BLENDED_P_VALUE: Curve = Curve::new(0.0, 1.0, 0.05, -150.0);
const OTHER_P_VALUE: Curve = Curve::new(1.0, 0.0, 0.055, 200.574_213_221);
const OTHER_COUNT: Curve = Curve::new(0.0, 1.0, 0.0, 0.574_213_221);

fn blended_curve(source: &str, property: Property) -> Curve {
    match (source, property) {
        ("infores:omnicorp", Property::Literature) => Curve::new(-1.0, 1.0, 0.0, 0.000_33),
        ("infores:text-mining-provider-targeted", Property::Publications) => Curve::new(-1.0, 1.0, 0.0, 4e-4),
        (
            "infores:genetics-data-provider" | "infores:icees-kg" | "infores:gwas-catalog",
            Property::PValue,
        ) => BLENDED_P_VALUE,
        ("infores:text-mining-provider-targeted", Property::Confidence) => Curve::new(-1.0, 1.0, 0.0, 3.0),
        (source, _) if has_own_curves(source) => NOTHING,
        (_, Property::Publications) => Curve::new(-1.0, 1.0, 0.0, 0.574_213_221),
        (_, Property::Literature) => Curve::new(-1.0, 1.0, 0.0, 0.001_373_265_360_835),
        (_, Property::Affinity) => Curve::new(-1.0, 1.0, 0.0, 0.4),
        (_, Property::PValue | Property::Confidence | Property::Unknown) => NOTHING,
    }
}

fn blended_trust(source: &str, property: Property) -> f64 {
    match (source, property) {
        ("infores:text-mining-provider-targeted", Property::Publications) => 0.5,
        ("infores:omnicorp", Property::Literature)
        | ("infores:text-mining-provider-targeted", Property::Confidence)
        | (
            "infores:genetics-data-provider" | "infores:icees-kg" | "infores:gwas-catalog",
            Property::PValue,
        ) => 1.0,
        (source, _) if has_own_curves(source) => 0.0,
        (_, Property::Publications | Property::Literature | Property::Affinity) => 1.0,
        (_, Property::PValue | Property::Confidence | Property::Unknown) => 0.0,
    }
}

/// A source with curves of its own counts for nothing else.
fn has_own_curves(source: &str) -> bool {
    matches!(
        source,
        "infores:omnicorp"
            | "infores:text-mining-provider-targeted"
            | "infores:genetics-data-provider"
            | "infores:icees-kg"
            | "infores:gwas-catalog"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const GWAS: &str = "infores:gwas-catalog";

    #[test]
    fn a_value_beyond_the_curve_is_no_overflow() {
        assert!(Profile::Blended.curve(GWAS, Property::PValue, 7.3) < 1e-300);
        assert!(Profile::Clinical.curve("infores:ctd", Property::PValue, -4.0) > 0.999);
    }

    #[test]
    fn a_source_with_a_curve_of_its_own_counts_for_nothing_else() {
        assert!(Profile::Blended.curve(GWAS, Property::Publications, 7.0).abs() < 1e-300);
        assert!(Profile::Blended.trust(GWAS, Property::Publications).abs() < 1e-300);
    }
}
