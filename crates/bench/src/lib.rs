//! Measures a running Loggia from outside: one load client, the measured process, and the suites of `loggia bench` that need
//! nothing but HTTP and the command line.
//!
//! Only the binary and its tests use this crate; it is not the product. Suites that measure a part inside the process, such
//! as metering, live beside the command `bench`. A figure that compares with something compares within the run: machines
//! drift, ratios hold.
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

pub mod bare;
pub mod filling;
pub mod mcp;
pub mod rebuilding;
pub mod searching;
pub mod similar;

pub use figure::{Figure, LIMITED, Limit};
