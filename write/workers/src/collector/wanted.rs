//! A picture to be fetched: which project names it, and under which address.

use schemas::ids::ProjectId;

/// What addresses of pictures begin with.
pub(super) const SCHEMES: [&str; 2] = ["https://", "http://"];

/// A picture to be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    pub(super) project: ProjectId,
    pub(super) source: String,
}

impl Wanted {
    /// Where it is fetched: always over TLS, for an image that a record brings from an address without it too.
    pub(super) fn address(&self) -> Option<String> {
        let rest = SCHEMES.iter().find_map(|scheme| self.source.strip_prefix(scheme))?;
        Some(format!("https://{rest}"))
    }

    /// The host that is asked for it; `None` where it is made.
    pub(super) fn host(&self) -> Option<String> {
        let rest = SCHEMES.iter().find_map(|scheme| self.source.strip_prefix(scheme))?;
        rest.split(['/', '?', '#']).next().map(str::to_ascii_lowercase)
    }
}
