//! Pictures from untrusted sources: decoded under limits, converted to sRGB, resized, summarised by their main colours, and fetched from
//! URLs without reaching private networks.
//!
//! The write side uses it for pictures that editors send and for those that records name by URL.
//!
//! # Promises
//!
//! - Only complete JPEG, PNG and WebP pictures within [`MAX_BYTES`], [`MAX_SIDE`] and the memory for one picture are accepted.
//!   Everything else is refused with a [`PictureError`], a sentence for the person who sent it.
//! - No input panics or takes more memory; all pictures that are decoded at once share one memory budget.
//! - The same bytes always give the same pixels, palette and smaller copies.
//! - A URL leads to no address of a private network, however it is written, resolved or redirected.
//!
//! # Modules, in reading order
//!
//! - `error`: why a picture is refused. `format`: detects formats. `header`: [`probe`], size and completeness without decoding.
//! - `decode`: [`decode`] and colour management; `memory`: the budget that decoding shares.
//! - [`thumbnails`]: resizing and encoding; `palette`: the main colours.
//! - [`fetch`]: pictures by URL; `guard`: which addresses are public.
//!
//! # Example
//!
//! ```
//! use image::{ImageFormat, Rgb, RgbImage};
//! use pictures::{Format, PictureError, decode, palette};
//!
//! let mut png = std::io::Cursor::new(Vec::new());
//! RgbImage::from_pixel(4, 3, Rgb([200, 30, 30])).write_to(&mut png, ImageFormat::Png)?;
//! let decoded = decode(png.get_ref())?;
//! assert_eq!((decoded.format, decoded.pixels.dimensions()), (Format::Png, (4, 3)));
//! assert_eq!(palette(&decoded.pixels), [[200, 30, 30]]);
//! assert_eq!(decode(&png.get_ref()[..40]).unwrap_err(), PictureError::Truncated);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decode;
mod error;
pub mod fetch;
mod format;
mod guard;
mod header;
mod memory;
mod palette;
#[cfg(test)]
mod tests;
pub mod thumbnails;

pub use decode::{Decoded, decode};
pub use error::PictureError;
pub use format::Format;
pub use header::probe;
pub use palette::palette;

/// The maximum size of a picture in bytes.
pub const MAX_BYTES: usize = 10 << 20;

/// The maximum width and height of a picture in pixels.
pub const MAX_SIDE: u32 = 8_000;
