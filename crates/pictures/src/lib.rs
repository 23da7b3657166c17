//! Pictures from strangers: decoded under limits, brought to sRGB, made smaller, described by their main colours, and fetched
//! from URLs without reaching private networks.
//!
//! The write side uses it for what editors send and records name. Bytes that are no whole JPEG, PNG or WebP within
//! [`MAX_BYTES`], [`MAX_SIDE`] and the memory that one picture may take are refused with a [`Fault`], a sentence for the person who
//! sent them; no input panics or takes more memory, and all pictures that are decoded at once share one limit. The same bytes
//! always give the same pixels, palette and smaller copies.
//!
//! ```
//! use image::{ImageFormat, Rgb, RgbImage};
//! use pictures::{Fault, Format, decode, palette};
//!
//! let mut png = std::io::Cursor::new(Vec::new());
//! RgbImage::from_pixel(4, 3, Rgb([200, 30, 30])).write_to(&mut png, ImageFormat::Png)?;
//! let decoded = decode(png.get_ref())?;
//! assert_eq!((decoded.format, decoded.pixels.dimensions()), (Format::Png, (4, 3)));
//! assert_eq!(palette(&decoded.pixels), [[200, 30, 30]]);
//! assert_eq!(decode(&png.get_ref()[..40]).unwrap_err(), Fault::CutOff);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decode;
mod fault;
pub mod fetch;
mod format;
mod guard;
mod header;
mod palette;
mod room;
#[cfg(test)]
mod tests;
pub mod thumbnails;

pub use decode::{Decoded, decode};
pub use fault::Fault;
pub use format::Format;
pub use header::outline;
pub use palette::palette;

/// The most bytes a picture may have.
pub const MAX_BYTES: usize = 10 << 20;

/// The most pixels on a side.
pub const MAX_SIDE: u32 = 8_000;
