//! Why a picture is refused, in sentences for the editor who sent it.

use super::{MAX_BYTES, MAX_SIDE};

/// The maximum memory for the pixels of one picture while it is decoded, in bytes.
pub(super) const MAX_DECODED_BYTES: u64 = 64 << 20;

/// The bytes are not a picture that can be used. The same bytes are always refused, so a retry is pointless.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// There are no bytes.
    #[error("It has no bytes; send the picture itself.")]
    Empty,
    /// More than [`MAX_BYTES`].
    #[error("It has {bytes} bytes; the most is {MAX_BYTES} (10 MiB): send it smaller.")]
    TooManyBytes {
        /// The number of bytes that it has.
        bytes: u64,
    },
    /// A known format that is not accepted.
    #[error("It is {name}; send JPEG, PNG or WebP.")]
    OtherFormat {
        /// The usual name of the format.
        name: &'static str,
    },
    /// An unknown format.
    #[error("It is not a picture in a known format; send JPEG, PNG or WebP.")]
    Unrecognised,
    /// More than one frame.
    #[error("It is {name}, which moves; send one frame of it as JPEG, PNG or WebP.")]
    Animated {
        /// The usual name of the format.
        name: &'static str,
    },
    /// The header states a width or height of 0.
    #[error("It is {width} × {height} px, so there is nothing to see; send another copy.")]
    NoPixels {
        /// In pixels, before the orientation is applied.
        width: u32,
        /// In pixels, before the orientation is applied.
        height: u32,
    },
    /// A side is longer than [`MAX_SIDE`].
    #[error("It is {width} × {height} px; the most is {MAX_SIDE} px a side: send it smaller.")]
    TooLarge {
        /// In pixels, before the orientation is applied.
        width: u32,
        /// In pixels, before the orientation is applied.
        height: u32,
    },
    /// Its pixels would take more than 64 MiB while it is decoded.
    #[error(
        "It is {width} × {height} px and would take {} MiB to decode; the most is {} MiB: send it smaller.",
        .bytes.div_ceil(1 << 20),
        MAX_DECODED_BYTES >> 20
    )]
    TooMuchMemory {
        /// In pixels, before the orientation is applied.
        width: u32,
        /// In pixels, before the orientation is applied.
        height: u32,
        /// The memory that its pixels would take, in bytes.
        bytes: u64,
    },
    /// The bytes end before the picture does.
    #[error("It ends in the middle; send the whole file.")]
    Truncated,
    /// The bytes violate the format.
    #[error("It is damaged and cannot be decoded ({reason}); send another copy.")]
    Damaged {
        /// The message of the decoder.
        reason: String,
    },
}

impl PictureError {
    /// Returns [`PictureError::Damaged`] with this reason.
    pub fn damaged(reason: impl ToString) -> PictureError {
        PictureError::Damaged { reason: reason.to_string() }
    }
}
