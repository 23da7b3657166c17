mod bad;
mod fetch;
mod kept;
pub(super) mod samples;
mod server;
mod uploads;

use super::*;
use schemas::picture::Colour;
