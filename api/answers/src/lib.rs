//! What the three surfaces of the API share: REST, MCP and the pages answer from it, each in its own form. It decides who may call
//! and what that costs, resolves slugs, reads the catalog, and has every error of the API.
//!
//! It has read access to the read models and writes nothing but the calls that it counts, the commands that it sends and the file of
//! its own figures. It imports no surface: a rule that all of them follow is written once, here.
//!
//! In reading order: [`state`] is what every endpoint answers from, [`route`] the table of paths, and [`error`] the problems that a
//! request may end in. [`auth`] has the principal of a request, its admission and its charge, within its [`deadline`]; [`effort`] is
//! what a call weighs, and [`turns`] keep dear ones from delaying all others. [`catalog`] writes what an answer about projects consists
//! of and [`usage`] what a key has used; [`query`] parses query strings and [`accept`] reads which media types a client takes.
//! [`term_meanings`] are kept for words that are near in meaning. [`command_client`] sends commands to the write side, and
//! [`command_line`] is how an operator types them. [`site`] and [`mail`] are what the operator configures, [`metrics`] what the API
//! counts for operators, and [`daily_figures`] what of it is kept by day.

pub mod accept;
pub mod auth;
pub mod catalog;
pub mod command_client;
pub mod command_line;
pub mod daily_figures;
pub mod deadline;
pub mod effort;
pub mod error;
pub mod mail;
pub mod metrics;
pub mod query;
pub mod route;
pub mod site;
pub mod state;
pub mod term_meanings;
pub mod turns;
pub mod usage;
