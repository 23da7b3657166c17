//! Exact k-nearest-neighbour lists in memory, by cosine similarity: computed for all rows, and repaired when rows are added or removed.
//!
//! A row has one or two vectors ("sides"), each made by one encoder: of 32-bit floats, or of one byte a number. Two rows are compared on
//! the sides that both have from the same encoder; the score is the mean of those cosines. `read` computes the similar projects of
//! the catalog with it.
//!
//! # Promises
//!
//! - Scores are the same on every machine and in either order, and of equal scores the lower id ranks first: the same rows
//!   always give the same lists.
//! - Lists are exact, but for two cases, in which they may miss a few neighbours: graphs are built
//!   ([`VectorSpace::build_graphs`]), or all lists of at least 8,192 rows of at least 768 dimensions are computed at once: then a pair is
//!   dropped if by a sketch its score is 3.5 standard deviations below what is needed. Measured with 40,000 rows of 1,883 dimensions:
//!   none of 160,000 ranks in lists of 64 is missed.
//!
//! # Modules, in reading order
//!
//! - `vector`: the vectors of sides and their cosines; `row`: rows and the score of two of them; `column`: one side of many rows.
//! - `rank`: the order of neighbours, and the top k.
//! - `space`: [`VectorSpace`], all rows, each with the admission threshold of its list.
//! - `search`: [`VectorSpace::nearest_of_all`] compares each pair once, in blocks that are multiplied as matrices; a matrix product
//!   only decides which pairs may be near enough, and those are scored exactly. [`VectorSpace::nearest_of_some`] finds the
//!   lists of some rows, and the lists of others that they enter.
//! - `sketch`: a fifth of the numbers of each row of a large group, which are multiplied in place of the rows; `search::seed`: the
//!   first ranks of lists, so that few pairs have to be scored.
//! - `graph`: an HNSW graph that proposes the rows to compare in a large space.
//!
//! # Example
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use knn::{Encoding, Layout, Row, Side, VectorSpace, unit};
//!
//! let encoding = Encoding { model: 0, dimensions: 2, is_quantized: false };
//! let layout = Layout { visual: Some(encoding), semantic: None };
//! let mut space = VectorSpace::new(1);
//! for (id, vector) in [(1, [1.0, 0.0]), (2, [1.0, 0.1]), (3, [0.0, 1.0])] {
//!     space.insert(id, Row { layout, visual: Some(Side::Floats(&unit(&vector))), semantic: None });
//! }
//! let lists = space.nearest_of_all(&AtomicBool::new(false)).unwrap_or_default();
//! let nearest_of_1 = lists.iter().find(|(id, _)| *id == 1).map(|(_, list)| list[0].id);
//! assert_eq!(nearest_of_1, Some(2));
//! ```

mod column;
mod graph;
mod rank;
mod row;
mod search;
mod sketch;
mod space;
mod vector;

#[cfg(test)]
mod tests;

pub use rank::Rank;
pub use row::{Cosines, Encoding, Layout, Row};
pub use search::{Lists, NearestOfSome};
pub use space::VectorSpace;
pub use vector::{Quantized, Side, dot, unit};
