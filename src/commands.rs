//! One file a command.

pub mod audit;
pub mod backup;
pub mod bench;
pub mod config;
pub mod curate;
pub mod doctor;
pub mod events;
pub mod export;
pub mod import;
pub mod keys;
pub mod nats;
pub mod payments;
pub mod pictures;
pub mod rebuild;
pub mod snapshot;
pub mod status;
pub mod store;
pub mod verify;
