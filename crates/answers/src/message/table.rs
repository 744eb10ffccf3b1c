//! Names as small numbers, so that merging and filtering compare and mark integers.

use std::borrow::Cow;
use std::hash::Hash;
use std::marker::PhantomData;

use foldhash::fast::RandomState;
use indexmap::IndexMap;

/// A number that stands for a name in one kind of table.
pub(crate) trait Index: Copy {
    /// The number for a position.
    fn new(position: usize) -> Self;
    /// The position.
    fn position(self) -> usize;
}

macro_rules! index {
    ($(#[$doc:meta] $name:ident)+) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(u32);

        impl Index for $name {
            fn new(position: usize) -> Self {
                // A table of four billion names does not fit in memory: each takes some forty bytes.
                Self(u32::try_from(position).unwrap_or(u32::MAX))
            }

            fn position(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

index! {
    /// A node of the knowledge graph.
    NodeId
    /// An edge of the knowledge graph.
    EdgeId
    /// An auxiliary graph.
    GraphId
    /// A key of the query graph.
    KeyId
}

/// Leaves the first of equal numbers.
pub(crate) fn once_each<I: Index + Eq + Hash>(ids: &mut Vec<I>) {
    if ids.len() > 1 {
        let mut known = foldhash::HashSet::default();
        ids.retain(|&id| known.insert(id));
    }
}

/// Names in order of first mention, with what is known about each: a name may be mentioned only.
#[derive(Debug)]
pub(crate) struct Table<'a, I, T> {
    entries: IndexMap<Cow<'a, str>, Option<T>, RandomState>,
    kind: PhantomData<I>,
}

impl<I, T> Default for Table<'_, I, T> {
    fn default() -> Self {
        Self { entries: IndexMap::default(), kind: PhantomData }
    }
}

impl<'a, I: Index, T> Table<'a, I, T> {
    pub(crate) fn reserve(&mut self, additional: usize) {
        self.entries.reserve(additional);
    }

    /// The number of a name, new if need be.
    pub(crate) fn intern(&mut self, name: Cow<'a, str>) -> I {
        match self.entries.get_index_of(&name) {
            Some(position) => I::new(position),
            None => I::new(self.entries.insert_full(name, None).0),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<I> {
        self.entries.get_index_of(name).map(I::new)
    }

    pub(crate) fn name(&self, id: I) -> &str {
        self.entries.get_index(id.position()).map_or("", |(name, _)| name)
    }

    pub(crate) fn get(&self, id: I) -> Option<&T> {
        self.entries.get_index(id.position())?.1.as_ref()
    }

    /// What is known about a name, to be set.
    pub(crate) fn slot(&mut self, id: I) -> Option<&mut Option<T>> {
        Some(self.entries.get_index_mut(id.position())?.1)
    }

    /// How many names were mentioned.
    pub(crate) fn mentioned(&self) -> usize {
        self.entries.len()
    }

    /// How many names are more than mentioned.
    pub(crate) fn len(&self) -> usize {
        self.entries.values().flatten().count()
    }

    /// All that are more than mentioned.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (I, &str, &T)> {
        self.entries.iter().enumerate().filter_map(|(position, (name, value))| {
            value.as_ref().map(|value| (I::new(position), name.as_ref(), value))
        })
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (I, &mut T)> {
        self.entries
            .values_mut()
            .enumerate()
            .filter_map(|(position, value)| value.as_mut().map(|value| (I::new(position), value)))
    }

    /// All names with their values, in order.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = (Cow<'a, str>, Option<T>)> {
        self.entries.into_iter()
    }

    /// Forgets the values of all names that are not marked; the names stay mentioned.
    pub(crate) fn keep(&mut self, marks: &Marks<I>) {
        for (position, value) in self.entries.values_mut().enumerate() {
            if !marks.has(I::new(position)) {
                *value = None;
            }
        }
    }
}

/// A set of numbers of one table.
#[derive(Debug)]
pub(crate) struct Marks<I> {
    marks: Vec<bool>,
    kind: PhantomData<I>,
}

impl<I: Index> Marks<I> {
    /// No marks yet, for a table of so many names.
    pub(crate) fn new(len: usize) -> Self {
        Self { marks: vec![false; len], kind: PhantomData }
    }

    pub(crate) fn has(&self, id: I) -> bool {
        self.marks.get(id.position()).copied().unwrap_or(false)
    }

    /// Sets a mark; true if it was not set before.
    pub(crate) fn set(&mut self, id: I) -> bool {
        match self.marks.get_mut(id.position()) {
            Some(mark) => !std::mem::replace(mark, true),
            None => false,
        }
    }
}
