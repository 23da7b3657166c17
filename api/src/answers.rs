//! What REST, MCP and the pages answer alike: searching, the projects similar to one, what a slug leads to, a project's past
//! and the usage of a key, and the JSON that they are written in. Each surface adds its own parameters and its own form.

pub(crate) mod forgiven;
pub(crate) mod json_writer;
pub(crate) mod list;
pub(crate) mod past;
pub(crate) mod search;
pub(crate) mod similar;
pub(crate) mod slug;
pub(crate) mod usage;
