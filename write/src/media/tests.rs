mod bad;
mod kept;
mod samples;

use super::*;
use schemas::picture::Colour;
