//! Why a picture is not kept, in sentences for the editors who sent it.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Why a picture is not kept. The same bytes are refused again, so trying again is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureFault {
    /// It is no picture that can be used.
    #[error(transparent)]
    Unusable(#[from] pictures::Fault),
    /// It was taken down for good.
    #[error(
        "It was taken down on {} and is not kept again; use another picture.",
        .erased_at.to_zoned(TimeZone::UTC).date()
    )]
    Erased {
        /// When.
        erased_at: Timestamp,
    },
}
