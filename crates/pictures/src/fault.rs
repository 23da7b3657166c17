//! What can be wrong with a picture, in sentences for the editors who sent it.

use super::{MAX_BYTES, MAX_SIDE};

/// The most bytes that the pixels of a picture may take while it is decoded.
pub(super) const MAX_DECODED_BYTES: u64 = 64 << 20;

/// Why bytes are no picture that can be used. The same bytes are refused again, so trying again is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// There is nothing.
    #[error("It has no bytes; send the picture itself.")]
    Empty,
    /// More bytes than are taken.
    #[error("It has {bytes} bytes; the most is {MAX_BYTES} (10 MiB): send it smaller.")]
    TooManyBytes {
        /// How many it has.
        bytes: u64,
    },
    /// A format that is recognised and not taken.
    #[error("It is {name}; send JPEG, PNG or WebP.")]
    OtherFormat {
        /// How people call the format.
        name: &'static str,
    },
    /// No known format.
    #[error("It is no picture that can be recognised; send JPEG, PNG or WebP.")]
    Unrecognised,
    /// More than one frame.
    #[error("It is {name}, which moves; send one frame of it as JPEG, PNG or WebP.")]
    Animated {
        /// How people call the format.
        name: &'static str,
    },
    /// The header tells a side of no pixels.
    #[error("It is {width} × {height} px, so there is nothing to see; send another copy.")]
    NoPixels {
        /// In pixels, as stored.
        width: u32,
        /// In pixels, as stored.
        height: u32,
    },
    /// A side is longer than what is taken.
    #[error("It is {width} × {height} px; the most is {MAX_SIDE} px a side: send it smaller.")]
    TooLong {
        /// In pixels, as stored.
        width: u32,
        /// In pixels, as stored.
        height: u32,
    },
    /// Its pixels take more memory than a picture may have.
    #[error(
        "It is {width} × {height} px and would take {} MiB to decode; the most is {} MiB: send it smaller.",
        .bytes.div_ceil(1 << 20),
        MAX_DECODED_BYTES >> 20
    )]
    TooMuchMemory {
        /// In pixels, as stored.
        width: u32,
        /// In pixels, as stored.
        height: u32,
        /// How many its pixels take.
        bytes: u64,
    },
    /// The bytes stop before the picture does.
    #[error("It ends in the middle; send the whole file.")]
    CutOff,
    /// The bytes are not what the format asks for.
    #[error("It is damaged and cannot be decoded ({reason}); send another copy.")]
    Damaged {
        /// What the decoder says.
        reason: String,
    },
}

impl Fault {
    /// Damaged for this reason.
    pub fn damaged(reason: impl ToString) -> Fault {
        Fault::Damaged { reason: reason.to_string() }
    }
}
