//! The interface over real sockets, in front of real read models.

#![expect(
    clippy::disallowed_methods,
    reason = "tasks end with their test, and replies are held against the clock"
)]

mod addresses;
mod admin;
mod answers;
mod archive;
mod attached;
mod board;
mod catalog_counts;
mod changed;
mod changes;
mod citations;
mod cite_parameter;
mod client;
mod compared;
mod conditional;
mod connect;
mod connections;
mod dates;
mod detail;
mod discovery;
mod effort;
mod emptied;
mod every_reply;
mod faults;
mod feeds;
mod filtered_pages;
mod filters;
mod finding;
mod first_steps;
mod keyed;
mod landing;
mod mailed_links;
mod mcp;
mod meaning;
mod node;
mod open;
mod pages;
mod past;
mod pictures;
mod secrets;
mod shown_records;
mod similar;
mod status_page;
mod stopping;
mod suggest;
mod suggested;
mod taste;
mod usage_page;
mod webhook;

use client::{Connection, Reply};
use node::Node;

/// The slugs of the results of an answer.
fn slugs(answer: &serde_json::Value) -> Vec<&str> {
    answer["results"].as_array().unwrap().iter().map(|one| one["slug"].as_str().unwrap()).collect()
}
