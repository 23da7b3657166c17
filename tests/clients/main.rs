//! The service as clients find it that were written by others: the protocol's conformance suite, its inspector and
//! nine more public clients speak to a real `loggia up`, Schemathesis asks its REST interface what openapi.json allows, and clients
//! that public generators made of that document use it. `bin/setup --test` brings them; what they do stands in the
//! scripts beside this file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking, speaks to whoever runs it, and ends its tasks with itself"
)]

mod brought;
mod conformance;
mod inspector;
mod openapi;
mod served;
mod visits;
