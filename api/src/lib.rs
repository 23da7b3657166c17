//! The REST API, the MCP endpoint and the site. It opens every read model for reading, writes nothing but the calls it counts, and answers every
//! error, from whatever layer it comes, as RFC 9457 problem details.
//!
//! The way of a request: [`serve`] accepts its connection and bounds what the connection may cost; the `front`
//! names the request, decides who calls, gives every reply its common headers and turns faults into problems;
//! `routes` and `pages` answer.

mod about;
mod access;
pub mod admin;
mod answers;
mod bursts;
mod charging;
mod citation;
pub mod clock;
mod deadline;
mod fault;
mod front;
mod key_desk;
mod letters;
mod mcp;
mod metering;
pub mod metrics;
mod offers;
mod origins;
mod pages;
pub mod payments;
mod peer;
mod presented;
mod proxies;
mod query;
mod route;
mod routes;
mod server;
mod site;
mod state;
mod xml;

pub use access::{Access, KeyAccess, UnknownTiers};
pub use bursts::Bursts;
pub use key_desk::{KeyDesk, new_key};
pub use letters::{Contact, InvalidContact, Letters};
pub use metering::{Budget, Counted, Meter, MeterSettings, Outcome, Policy, SpoolError, abandoned_calls};
pub use offers::{Checkouts, InvalidOffers, Offer, Offers, Prices};
pub use origins::{InvalidOrigin, Origins};
pub use proxies::{InvalidProxy, TrustedProxies};
pub use server::{Drained, Limits, serve, serve_admin};
pub use site::{InvalidSite, Site, SiteTexts};
pub use state::{ApiState, Readiness, Sources};

#[cfg(test)]
mod tests;
