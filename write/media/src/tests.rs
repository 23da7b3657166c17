mod bad;
mod kept;
mod uploads;

use super::*;
