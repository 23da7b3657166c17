//! The request pipeline, which every request and every reply passes. It gives the request an id, reads its body within limits, runs
//! the endpoint, charges the call, and gives the reply its entity tag, its encoding and the common headers; an error becomes problem
//! details or a page.
//!
//! [`pipeline`] is the one service of all requests; the other modules are its parts.

mod access_log;
pub(crate) mod bodies;
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
