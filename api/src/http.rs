//! The request pipeline: what every request passes on its way in and every reply on its way out. It names the request, reads
//! its body within bounds, runs the endpoint, charges for the call, and gives the reply its tag, its encoding and the headers
//! that every reply carries; an error becomes a problem or a page.
//!
//! [`pipeline`] is the one service that all requests go through; the other modules are its parts.

mod access_log;
mod bodies;
mod context;
mod encoding;
mod entity_tag;
mod framing;
mod headers;
pub(crate) mod pipeline;
mod problem;
mod request_body;
mod request_id;
mod request_span;
mod response;
mod same_site;
