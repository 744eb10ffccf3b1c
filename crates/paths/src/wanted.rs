//! The categories that a path must pass, each as a bit.

use trapi::biolink;

use crate::question::{Question, TooManyCategories};

/// Categories met by a node, or by some nodes together: one bit for each that the question names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Met(u64);

impl Met {
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What must be met.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    categories: Vec<String>,
    /// The bits of each alternative; none where anything goes.
    alternatives: Vec<Met>,
}

impl Wanted {
    pub(crate) fn new(alternatives: &[Vec<String>]) -> Result<Self, TooManyCategories> {
        let mut categories: Vec<String> = alternatives.iter().flatten().cloned().collect();
        categories.sort_unstable();
        categories.dedup();
        if categories.len() > Question::MAX_CATEGORIES {
            return Err(TooManyCategories);
        }
        let mut wanted = Self { categories, alternatives: Vec::new() };
        wanted.alternatives = alternatives
            .iter()
            .map(|alternative| wanted.bits(|category| alternative.iter().any(|asked| asked == category)))
            .collect();
        Ok(wanted)
    }

    /// What a node of these categories meets.
    pub(crate) fn met_by(&self, categories: &[String]) -> Met {
        self.bits(|wanted| categories.iter().any(|category| biolink::is_a(category, wanted)))
    }

    pub(crate) fn is_met(&self, met: Met) -> bool {
        self.alternatives.is_empty() || self.alternatives.iter().any(|&wanted| wanted.and(met) == met)
    }

    fn bits(&self, holds: impl Fn(&String) -> bool) -> Met {
        let set = self.categories.iter().zip(0..).filter(|(category, _)| holds(category));
        set.fold(Met::default(), |met, (_, bit)| met.and(Met(1 << bit)))
    }
}
