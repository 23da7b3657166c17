//! The HTTP server of a read node: the REST API, the MCP endpoint, the pages of the site, and the operators' listener. The binary
//! serves an [`ApiState`] with [`serve`].
//!
//! It opens every read model for reading, writes nothing but the calls it counts, and answers every error, from whatever layer it
//! comes, as RFC 9457 problem details.
//!
//! The path of a request: [`serve`] accepts its connection and bounds what the connection may cost (`server`); the request
//! pipeline (`http`) names the request, has it admitted and charged, gives every reply its common headers and turns errors into
//! problems; `rest` and the packages `pages` and `mcp` answer, each in its own form, from what they share in the package `answers`.
//! `metering` counts the call, `citation` formats citations, `payments` parses payment notices. [`admin`] is for operators.

pub mod admin;
mod http;
mod rest;
mod server;
mod shares;

// What `serve` takes and its settings are made of; the binary composes them.
pub use answers::auth::access::{Access, KeyAccess, UnknownTiers};
pub use answers::auth::origins::Origins;
pub use answers::auth::proxies::TrustedProxies;
pub use answers::auth::rate_limit::RateLimits;
pub use answers::command_client::{CommandClient, new_key};
pub use answers::command_line::CommandLine;
pub use answers::daily_figures::DailyFigures;
pub use answers::mail::{Contact, MailStatus};
pub use answers::metrics::Metrics;
pub use answers::site::{Site, SiteTexts};
pub use answers::state::{ApiState, PaymentWebhook, Readiness, Sources};
pub use pages::KeyUses;

pub use server::{Drained, Limits, serve, serve_admin};

#[cfg(test)]
mod tests;
