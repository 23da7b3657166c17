//! The data types of Loggia: events and their envelope, ids, subjects, commands, the import record and the API's
//! answers. Pure data and pure functions; this crate imports no sibling crate and no I/O crate.
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
pub mod hash;
pub mod ids;
pub mod import;
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
pub mod tier;
pub mod usage;
pub mod vector;
pub mod versioned;
pub mod web_address;
