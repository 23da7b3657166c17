mod bad;
mod colours;
mod fetch;
mod kept;
pub(crate) mod samples;
mod server;
mod uploads;

use super::*;
use schemas::picture::Colour;
