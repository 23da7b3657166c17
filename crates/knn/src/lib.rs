//! The nearest rows of every row, by cosine similarity: exact, in memory, and repaired when rows come and go.
//!
//! A row has one or two vectors of unit length, each made by one encoder. Two rows are compared on the sides that both
//! have from the same encoder; the score is the mean of those cosines. Scores are the same on every machine and in either
//! order, and of equal scores the lower id ranks first, so the same rows always give the same lists.
//!
//! [`VectorSpace::nearest_of_all`] compares each pair once, in blocks that are multiplied as matrices. A product of
//! matrices only decides which pairs may be near enough; those are scored exactly. [`VectorSpace::nearest_of_some`] finds
//! the lists of some rows and the lists of others that they belong into. From a number of rows on, a graph
//! (instant-distance) proposes the rows to compare; then lists may miss a few.
//!
//! The neighbours of projects in `read` are computed with it.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use knn::{Encoding, Layout, Row, VectorSpace, unit};
//!
//! let layout = Layout { visual: Some(Encoding { model: 0, dimensions: 2 }), semantic: None };
//! let mut space = VectorSpace::new(1);
//! for (id, vector) in [(1, [1.0, 0.0]), (2, [1.0, 0.1]), (3, [0.0, 1.0])] {
//!     space.insert(id, Row { layout, visual: Some(&unit(&vector)), semantic: None });
//! }
//! let lists = space.nearest_of_all(&AtomicBool::new(false)).unwrap_or_default();
//! let nearest_of_1 = lists.iter().find(|(id, _)| *id == 1).map(|(_, list)| list[0].id);
//! assert_eq!(nearest_of_1, Some(2));
//! ```

mod candidates;
mod compared;
mod graph;
mod graph_state;
mod rank;
mod row;
mod search;
mod space;
mod vector;

#[cfg(test)]
mod tests;

pub use rank::Rank;
pub use row::{Cosines, Encoding, Layout, Row};
pub use search::{FoundForSome, Lists};
pub use space::VectorSpace;
pub use vector::{dot, unit};
