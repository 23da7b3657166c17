//! Measures a running Loggia over HTTP and its command line: a load client, the measured process, and suites of `loggia bench`.
//!
//! Only the binary and its tests use this crate. What measures a part inside the process, such as metering, gets that part
//! from the command `bench`. Limits on speed are ratios within one run where possible, because the speed of a machine varies between runs.
//!
//! - [`Figure`]: a measured value and its limit.
//! - [`load`]: the HTTP client and closed-loop load; [`steady`]: open-loop load.
//! - [`server`]: the measured process; [`queries`]: realistic search queries; [`vectors`]: random vectors in clusters.
//! - The suites: [`filling`], [`searching`], [`filters`], [`similar`], [`mcp`], [`metering`], [`rebuilding`], [`idle`],
//!   [`relevance`], [`meaning`].
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

pub mod filling;
pub mod filters;
pub mod idle;
pub mod mcp;
pub mod meaning;
pub mod metering;
pub mod rebuilding;
pub mod relevance;
pub mod searching;
pub mod similar;

pub use figure::{Figure, LIMITED, Limit};
