//! What the whole catalog records: how many projects have each member.

use super::columns::Columns;
use super::facets::Facet;
use super::recorded::Member;

/// What is counted of all listed projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogCounts {
    /// The number of projects.
    pub projects: u64,
    /// The number of projects that have each member, in the order of [`Member::ALL`].
    pub recorded: [(Member, u64); Member::COUNT],
    /// The first and the last year; `None` if no project has one.
    pub years: Option<(u16, u16)>,
    /// The number of studios.
    pub studios: u64,
    /// The number of places as they are recorded.
    pub cities: u64,
    /// The number of curators.
    pub curators: u64,
}

impl CatalogCounts {
    /// Counts all projects; `distinct` returns the number of values of a facet that they have.
    pub(super) fn of(columns: &Columns, distinct: impl Fn(Facet) -> u64) -> CatalogCounts {
        let mut counts = CatalogCounts {
            projects: 0,
            recorded: Member::ALL.map(|member| (member, 0)),
            years: None,
            studios: distinct(Facet::Studio),
            cities: distinct(Facet::City),
            curators: distinct(Facet::Curator),
        };
        for chunk in columns.chunks() {
            counts.projects += chunk.len() as u64;
            // Member by member: the compiler makes vector instructions of each loop.
            for (member, count) in &mut counts.recorded {
                *count += u64::from(chunk.recorded.iter().map(|row| row.count_of(*member)).sum::<u32>());
            }
            for year in (0..chunk.len()).filter_map(|row| chunk.year(row)) {
                let (first, last) = counts.years.unwrap_or((year, year));
                counts.years = Some((first.min(year), last.max(year)));
            }
        }
        counts
    }

    /// Returns the number of projects that have a member.
    pub fn of_member(&self, member: Member) -> u64 {
        self.recorded[member as usize].1
    }
}
