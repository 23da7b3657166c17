//! Measures a running Loggia over HTTP and its command line: a load client, the measured process, and suites of `loggia bench`.
//!
//! Only the binary and its tests use this crate. The suites without a server measure a part of Loggia inside this process. Limits on
//! speed are ratios within one run where possible, because the speed of a machine varies between runs.
//!
//! - [`Figure`]: a measured value and its limit.
//! - [`load`]: the HTTP client and closed-loop load; [`steady`]: open-loop load.
//! - [`server`]: the measured process; [`queries`]: realistic search queries; [`vectors`]: random vectors in clusters.
//! - The suites: [`filling`], [`searching`], [`filters`], [`similar`], [`mcp`], [`rebuilding`], [`idle`], [`edits`], [`relevance`],
//!   [`meaning`]; without a server: [`metering`], [`cluster`], [`neighbour_table`], [`labelled_pictures`], [`comparison`].
//!
//! ```
//! let figure = bench::Figure::new("p99 of a search", 1.5, "ms").at_most(5.0);
//! assert!(figure.holds());
//! ```

mod figure;
pub mod load;
pub mod steady;

pub mod queries;
pub mod server;
pub mod vectors;

pub mod cluster;
pub mod comparison;
pub mod edits;
pub mod filling;
pub mod filters;
pub mod idle;
pub mod labelled_pictures;
pub mod mcp;
pub mod meaning;
pub mod metering;
pub mod neighbour_table;
pub mod rebuilding;
pub mod relevance;
pub mod searching;
pub mod similar;

pub use figure::{Figure, LIMITED, Limit};
