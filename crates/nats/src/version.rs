//! The version of a nats-server.

use std::fmt;

/// The oldest accepted version of nats-server.
pub const MIN_VERSION: Version = Version(2, 14, 0);

/// Major, minor and patch version, ordered by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u64, pub u64, pub u64);

impl Version {
    /// Returns the version in a text such as `2.15.1` or `2.14.0-RC.1`; `None` if there is none.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.trim().split(['.', '-', '+']).map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Self(next()?, next()?, next()?))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_parsed_and_ordered() {
        assert_eq!(Version::parse("2.15.1\n"), Some(Version(2, 15, 1)));
        assert_eq!(Version::parse("2.14.0-RC.1"), Some(Version(2, 14, 0)));
        assert_eq!(Version::parse("2.14"), None);
        assert_eq!(Version::parse("seven"), None);
        assert!(Version(2, 9, 10) < MIN_VERSION && Version(3, 0, 0) > Version(2, 15, 1));
        assert_eq!(MIN_VERSION.to_string(), "2.14.0");
    }
}
