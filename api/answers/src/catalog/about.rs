//! What is true of the catalog as a whole: agents and language models read it before they ask.

use read::archive::{CatalogCounts, Listing, Member};
use schemas::api::archive::Catalog;
use schemas::record::Category;

/// What no member of a record holds, and what to do about a question for it.
pub const NEVER_RECORDED: &str = "Never recorded as such: gender, nationality, age, size, price, popularity. Unless a record's own text says \
it, answer that it is not recorded: a guess is not an answer, and “women” finds pictures of women, not by them.";

/// Returns what kind of catalog it is, by the categories that have projects, such as `curated catalog of design and art`; `None` stands for a
/// listing that cannot be read yet.
pub fn kind(now: Option<&Listing>) -> String {
    let has_projects = |category: &Category| now.is_some_and(|now| now.listed(Some(*category)) > 0);
    let categories: Vec<&str> =
        Category::ALL.into_iter().filter(has_projects).map(Category::as_str).collect();
    match categories[..] {
        [] => "curated catalog".to_owned(),
        [only] => format!("curated catalog of {only}"),
        [ref others @ .., last] => format!("curated catalog of {} and {last}", others.join(", ")),
    }
}

/// Returns how many projects there are and whether they name their curators, as a sentence.
pub fn curators(counts: &CatalogCounts) -> String {
    let (projects, named) = (counts.projects, counts.of_member(Member::CuratedBy));
    match (projects, named) {
        (0, _) => "It has no projects yet.".to_owned(),
        (1, 0) => "It has one project, which names no curator.".to_owned(),
        (1, _) => "It has one project, selected by a named curator.".to_owned(),
        (all, 0) => format!("It has {} projects, none of which names its curator.", grouped(all)),
        (all, 1) => format!("One of its {} projects names its curator.", grouped(all)),
        (all, named) if all == named => {
            format!("Each of its {} projects is selected by a named curator.", grouped(all))
        }
        (all, named) => format!("{} of its {} projects name their curator.", grouped(named), grouped(all)),
    }
}

/// Returns how many projects have each member, as lines of a list; empty without projects.
pub fn recorded(counts: &CatalogCounts) -> Vec<String> {
    let CatalogCounts { projects, years, studios, cities, curators, .. } = *counts;
    if projects == 0 {
        return Vec::new();
    }
    let some = counts.recorded.iter().filter(|(_, count)| *count > 0);
    let some: Vec<String> =
        some.map(|(member, count)| format!("{} {}", member.as_str(), grouped(*count))).collect();
    let none = counts.recorded.iter().filter(|(_, count)| *count == 0);
    let none: Vec<&str> = none.map(|(member, _)| member.as_str()).collect();
    let of = if projects == 1 { "one project".to_owned() } else { format!("{} projects", grouped(projects)) };
    let mut lines = Vec::new();
    if !some.is_empty() {
        lines.push(format!("Of {of} so many have: {}", some.join(", ")));
    }
    if !none.is_empty() {
        lines.push(format!("None has: {}", none.join(", ")));
    }
    let years =
        years.map(|(first, last)| format!("; years from {first:04} to {last:04}")).unwrap_or_default();
    let [studios, cities, curators] = [studios, cities, curators].map(grouped);
    lines.push(format!("Distinct: studios {studios}, cities {cities}, curators {curators}{years}"));
    lines
}

/// Returns what the catalog records, as it is answered.
pub(super) fn answered(counts: &CatalogCounts) -> Catalog {
    let CatalogCounts { projects, ref recorded, years, studios, cities, curators } = *counts;
    let years = years.map(|(first, last)| vec![u32::from(first), u32::from(last)]).unwrap_or_default();
    let recorded = recorded.iter().map(|(member, count)| (member.as_str(), *count)).collect();
    Catalog { projects, recorded, years, studios, cities, curators }
}

/// Returns a number with its digits in groups of three, such as `2,500`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group));
    groups.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(projects: u64, of: &[(Member, u64)]) -> CatalogCounts {
        let recorded = Member::ALL
            .map(|member| (member, of.iter().find(|(one, _)| *one == member).map_or(0, |(_, count)| *count)));
        CatalogCounts { projects, recorded, years: None, studios: 0, cities: 0, curators: 0 }
    }

    #[test]
    fn the_sentence_about_curators_holds_for_every_catalog() {
        for (projects, named, expected) in [
            (0, 0, "It has no projects yet."),
            (1, 0, "It has one project, which names no curator."),
            (1, 1, "It has one project, selected by a named curator."),
            (2, 0, "It has 2 projects, none of which names its curator."),
            (2, 1, "One of its 2 projects names its curator."),
            (2_500, 1_350, "1,350 of its 2,500 projects name their curator."),
            (2_500, 2_500, "Each of its 2,500 projects is selected by a named curator."),
        ] {
            assert_eq!(curators(&counts(projects, &[(Member::CuratedBy, named)])), expected);
        }
    }

    #[test]
    fn the_members_are_listed_with_their_numbers() {
        assert!(recorded(&counts(0, &[])).is_empty());
        let nothing = recorded(&counts(1, &[]));
        assert_eq!(nothing.len(), 2);
        assert!(nothing[0].starts_with("None has: studio, city, year, intro, "), "{nothing:?}");
        assert_eq!(nothing[1], "Distinct: studios 0, cities 0, curators 0");
        let some = counts(2_500, &[(Member::Year, 1_658), (Member::City, 3)]);
        let some = recorded(&CatalogCounts { years: Some((987, 2_021)), cities: 2, ..some });
        assert_eq!(some[0], "Of 2,500 projects so many have: city 3, year 1,658");
        assert!(some[1].starts_with("None has: studio, intro, "), "{some:?}");
        assert_eq!(some[2], "Distinct: studios 0, cities 2, curators 0; years from 0987 to 2021");
        let all = recorded(&counts(1, &Member::ALL.map(|member| (member, 1))));
        assert!(all[0].starts_with("Of one project so many have: studio 1, city 1, "), "{all:?}");
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn digits_are_in_groups_of_three() {
        assert_eq!([0, 12, 123, 1_234, 12_345_678].map(grouped), ["0", "12", "123", "1,234", "12,345,678"]);
    }
}
