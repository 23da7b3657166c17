//! The service with third-party clients: the protocol's conformance suite, its inspector and nine more public clients
//! connect to a real `loggia up`, Schemathesis tests the REST interface against openapi.json, and clients that public
//! generators made from it are used. `bin/setup --test` installs them; their actions are in the scripts next to this
//! file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking, prints its messages, and its tasks end with it"
)]

mod conformance;
mod inspector;
mod installed;
mod openapi;
mod reference;
mod served;
mod visits;
