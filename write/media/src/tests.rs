mod rejected;
mod stored;
mod uploads;

use schemas::picture::{Colour, PictureFormat};

use super::*;
