//! The real binary as a black box: started on port 0 with its own folder, used through sockets and its command line.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking, prints its messages, and its tasks end with it"
)]

mod agents;
mod api_key;
mod audit;
mod backup_page;
mod backups;
mod changes;
mod citations;
mod clean_stop;
mod clocks;
mod closed_pipes;
mod cluster;
mod cluster_commands;
mod command_line;
mod command_matrix;
mod counters;
mod curation;
mod damaged_model;
mod differential;
mod doctor;
mod encoders;
#[cfg(feature = "eventstore")]
mod eventstoredb;
mod export_tables;
mod first_minutes;
mod haproxy;
mod import_formats;
mod import_pictures;
mod importing;
mod interrupted_imports;
#[cfg(feature = "eventstore")]
mod keepers;
mod keys;
mod links;
mod logs;
mod lost_lines;
mod mapped_imports;
mod mcp;
mod models;
mod museum_records;
mod nats_starts_later;
mod node_group;
mod older_backup;
mod operators;
mod pages;
mod panics;
mod payments;
mod permissions;
mod pictures;
mod private_server;
mod read_nodes;
mod read_nodes_measured;
mod rebuild;
mod refused_at_start;
mod restore_until;
mod roles_apart;
mod service;
mod settings;
mod shared_settings;
mod signals;
mod similar;
mod site;
mod sources;
mod status;
#[cfg(feature = "otlp")]
mod traces;
mod upgrade;
