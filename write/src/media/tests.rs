mod bad;
mod kept;
mod samples;
mod uploads;

use super::*;
use schemas::picture::Colour;
