//! What to try when nothing is found.

use super::query::HomeQuery;

/// What to try, and the path of the search in all categories.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Advice {
    /// What to change, such as `Try fewer words`.
    pub(super) change: Option<&'static str>,
    /// The path of the same search in all categories, if it is in one.
    pub(super) everywhere: Option<String>,
}

impl Advice {
    /// Returns what to try in place of a query that finds nothing; `None` if it asks for nothing that could be left out.
    pub(super) fn on(query: &HomeQuery, base: &str) -> Option<Advice> {
        let filters = &query.options.filters;
        let is_narrowed = query.filter_pairs().len() > filters.categories.len();
        let change = match query.q.split_whitespace().count() {
            2.. => Some("Try fewer words"),
            1 => Some("Try another word"),
            _ if query.taste.iter().count() > 0 => Some("Try other words"),
            _ => is_narrowed.then_some("Try fewer filters"),
        };
        let everywhere = (!filters.categories.is_empty()).then(|| query.in_category(None).href(base));
        (change.is_some() || everywhere.is_some()).then_some(Advice { change, everywhere })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_left_out_is_said() {
        let advice = |query: &str| Advice::on(&HomeQuery::read(query).unwrap(), "/b");
        let said = |change, everywhere: Option<&str>| {
            Some(Advice { change, everywhere: everywhere.map(str::to_owned) })
        };
        assert_eq!(
            advice("q=oak+hosue&category=art&city=Ulm&cursor=x"),
            said(Some("Try fewer words"), Some("/b/?q=oak+hosue&city=Ulm"))
        );
        assert_eq!(advice("q=hosue"), said(Some("Try another word"), None));
        assert_eq!(
            advice("material=larsh&category=art"),
            said(Some("Try other words"), Some("/b/?material=larsh"))
        );
        assert_eq!(advice("city=Nowhere&year_from=1990"), said(Some("Try fewer filters"), None));
        assert_eq!(advice("category=art&category=design"), said(None, Some("/b/")));
        assert_eq!(advice("sort=name"), None);
    }
}
