//! The REST API, the MCP endpoint and the site. It opens every read model for reading, writes nothing but the calls it counts, and answers every
//! error, from whatever layer it comes, as RFC 9457 problem details.
//!
//! The way of a request: [`serve`] accepts its connection and bounds what the connection may cost (`server`); the request
//! pipeline (`http`) names the request, gives every reply its common headers and turns errors into problems; `auth` decides
//! who calls and what they may; `rest`, `mcp` and `pages` answer, each in its own form, what `answers` knows; `metering`
//! counts the call. `route` lists the paths, `state` holds what all of them answer from.

pub mod admin;
mod answers;
mod auth;
mod command_client;
mod deadline;
mod error;
mod http;
mod letters;
mod mcp;
pub mod metrics;
mod pages;
mod query;
mod rest;
mod route;
mod server;
mod site;
mod state;

pub use auth::access::{Access, KeyAccess, UnknownTiers};
pub use auth::origins::{InvalidOrigin, Origins};
pub use auth::proxies::{InvalidProxy, TrustedProxies};
pub use auth::rate_limit::Bursts;
pub use command_client::{CommandClient, new_key};
pub use letters::{Contact, InvalidContact, Letters};
pub use server::{Drained, Limits, serve, serve_admin};
pub use site::{InvalidSite, Site, SiteTexts};
pub use state::{ApiState, PaymentWebhook, Readiness, Sources};

#[cfg(test)]
mod tests;
