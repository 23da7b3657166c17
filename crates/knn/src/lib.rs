//! Exact k-nearest-neighbour lists in memory, by cosine similarity: computed for all rows, and repaired when rows are added or removed.
//!
//! A row has one or two unit vectors ("sides"), each made by one encoder. Two rows are compared on the sides that both have from the
//! same encoder; the score is the mean of those cosines. `read` computes the similar projects of the catalog with it.
//!
//! # Promises
//!
//! - Scores are the same on every machine and in either order, and of equal scores the lower id ranks first: the same rows
//!   always give the same lists.
//! - Lists are exact unless graphs are built ([`VectorSpace::build_graphs`]): then they may miss a few neighbours.
//!
//! # Modules, in reading order
//!
//! - `row`: rows and the score of two of them; `vector`: the dot product.
//! - `rank`: the order of neighbours, and the top k.
//! - `space`: [`VectorSpace`], all rows, each with the admission threshold of its list.
//! - `search`: [`VectorSpace::nearest_of_all`] compares each pair once, in blocks that are multiplied as matrices; a matrix product
//!   only decides which pairs may be near enough, and those are scored exactly. [`VectorSpace::nearest_of_some`] finds the
//!   lists of some rows, and the lists of others that they enter.
//! - `graph`: an HNSW graph that proposes the rows to compare in a large space.
//!
//! # Example
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

mod graph;
mod rank;
mod row;
mod search;
mod space;
mod vector;

#[cfg(test)]
mod tests;

pub use rank::Rank;
pub use row::{Cosines, Encoding, Layout, Row};
pub use search::{Lists, NearestOfSome};
pub use space::VectorSpace;
pub use vector::{dot, unit};
