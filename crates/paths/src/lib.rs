//! The best paths between pinned nodes of a graph that is asked for piece by piece. No I/O.
//!
//! The graph is somebody else's and far too large to be fetched, so the search asks for neighbours
//! ([`Neighbours`]) from both ends at once and goes on only where it is most promising. What it returns is
//! nevertheless exact, in these words:
//!
//! - **Hop.** Two nodes are neighbours when at least one edge joins them, whatever its direction. An edge from a
//!   node to itself joins nothing.
//! - **Passable.** A node can stand between the ends unless it is an end itself, or blocked by its identifier or
//!   name, or has more neighbours than [`Limits::max_degree`]. How many it has is what [`Hints`] say; where they
//!   say nothing and the node stands next to an end of the path, it is what its own answer shows.
//! - **Kept.** Of the passable neighbours of a node that it was asked about, an answer keeps the
//!   [`Limits::top_k`] cheapest, ties broken by identifier; beside them all ends and, where the node is no end itself,
//!   all that the answers about the ends keep, so that no hop between those is lost. What is cheap does not depend
//!   on how many are kept, so a larger K keeps the same nodes and more.
//! - **Path.** One to four hops between different nodes, from a start to an end, which can be cut at a node into
//!   two halves of at most two hops, such that each hop of the first half is kept by its node that is nearer to the
//!   start, and each hop of the second by its node that is nearer to the end. At least one alternative of the
//!   question's categories must be met by the nodes between the ends.
//! - **Cost.** Each hop and each node between the ends costs something (`cost`), and a path the sum. The search
//!   returns the [`Limits::max_paths`] cheapest, ties broken by identifiers.
//!
//! From this follows what the tests hold: with K no smaller than any degree the answer is that of brute force;
//! a larger K never makes the best path worse; and the order in which answers arrive does not matter.
//!
//! Asked about are the ends, then what their answers keep: at most K nodes for each end, the cheapest first. All
//! other work and memory is bounded by the number of halves that may meet, which K² bounds for each end.

mod cost;
mod explore;
mod found;
mod graph;
mod halves;
mod join;
mod keep;
mod ports;
mod question;
mod scene;
mod wanted;

pub use explore::{Ended, search};
pub use found::{Found, FoundNode, FoundPath};
pub use ports::{Answer, Edge, Hints, Neighbours, NoHints, Node};
pub use question::{Blocked, Limits, Question, TooManyCategories};
