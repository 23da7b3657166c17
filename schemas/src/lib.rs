//! The data types of Loggia: events and their envelope, ids, subjects, commands, the import record and the API's answers. Every
//! other crate of Loggia uses them. Pure data and pure functions; this crate imports no sibling crate and no I/O crate.
//!
//! In reading order:
//!
//! - what is recorded: [`record`], [`taste`], [`picture`], [`vector`], [`slug`], [`external_id`], [`ids`], [`history`]
//!   (the revisions of a project)
//! - events: [`event`] (projects), [`account`], [`payment`], [`versioned`] (upcasts), [`envelope`], [`chain`] and [`hash`],
//!   [`cloudevents`] and [`subject`] (over NATS)
//! - requests over NATS: [`command`] and its reply, [`control`]
//! - files: [`import`], [`erased_pictures`], [`kept_mappings`]
//! - accounts and calls: [`email`], [`key`], [`link`], [`tier`], [`usage`], [`month`], [`clock`]
//! - HTTP: [`api`]; [`contract`] generates the published documents
//! - texts: [`text`], [`web_address`]
#![doc = include_str!("../README.md")]

pub mod account;
pub mod api;
pub mod chain;
pub mod clock;
pub mod cloudevents;
pub mod command;
pub mod contract;
pub mod control;
pub mod email;
pub mod envelope;
pub mod erased_pictures;
pub mod event;
pub mod external_id;
pub mod hash;
pub mod history;
pub mod ids;
pub mod import;
pub mod kept_mappings;
pub mod key;
pub mod link;
pub mod month;
pub mod payment;
pub mod picture;
pub mod record;
pub mod slug;
pub mod subject;
pub mod taste;
pub mod text;
mod text_form;
pub mod tier;
pub mod usage;
pub mod vector;
pub mod versioned;
pub mod web_address;
