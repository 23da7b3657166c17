mod bad;
mod fetch;
mod kept;
mod samples;
mod server;
mod uploads;

use super::*;
use schemas::picture::Colour;
