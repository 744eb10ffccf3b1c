//! The names of things in Redis. Parsed at the edge, carried as types inside.

use std::fmt;
use std::str::FromStr;

use rand::RngCore;

/// A text that is not an id of the expected form; says nothing more, as ids are capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id of this service")]
pub struct InvalidId;

macro_rules! random_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// Its text is the partition in four hexadecimal digits and 128 random bits in 32.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            partition: u16,
            random: u128,
        }

        impl $name {
            /// A fresh, unguessable id in `partition`.
            pub fn random(partition: u16, rng: &mut impl RngCore) -> Self {
                let random = (u128::from(rng.next_u64()) << 64) | u128::from(rng.next_u64());
                Self { partition, random }
            }

            /// The partition whose slot holds everything of this id.
            pub fn partition(self) -> u16 {
                self.partition
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:04x}{:032x}", self.partition, self.random)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let hexadecimal = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
                if text.len() != 36 || !text.bytes().all(hexadecimal) {
                    return Err(InvalidId);
                }
                let (partition, random) = text.split_at(4);
                Ok(Self {
                    partition: u16::from_str_radix(partition, 16).map_err(|_| InvalidId)?,
                    random: u128::from_str_radix(random, 16).map_err(|_| InvalidId)?,
                })
            }
        }
    };
}

random_id! {
    /// One accepted client request. Clients know it as `job_id`.
    QueryId
}

random_id! {
    /// The capability that names one sub-query to Retriever; valid until its lookup closes.
    CallbackId
}

/// The id of an entry in a Redis stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(pub(crate) String);

impl From<&str> for EntryId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name under which one process takes entries from streams and owns queries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConsumerName(String);

impl ConsumerName {
    /// `label` (a host or worker name) with random bits, so that a restarted process is a new consumer.
    pub fn random(label: &str, rng: &mut impl RngCore) -> Self {
        let label: String = label.chars().filter(char::is_ascii_graphic).take(60).collect();
        Self(format!("{label}-{:016x}", rng.next_u64()))
    }

    /// The name as Redis knows it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConsumerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_survive_their_text_and_name_their_partition() {
        let id = QueryId::random(3, &mut rand::rng());
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_string().len(), 36);
        assert_eq!(id.partition(), 3);
    }

    #[test]
    fn anything_else_is_no_id() {
        let upper = "0000ABCDEF00000000000000000000000000";
        for text in ["", "0", "0000", upper, "+000abcdef00000000000000000000000000", "x\r\nSET a 1"] {
            assert_eq!(text.parse::<CallbackId>(), Err(InvalidId), "{text:?}");
        }
    }
}
