//! Queries that people judged: each has a rule that says which records it wants.

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::words::{Record, fold};
use super::{Catalog, Kind, Question};

/// The judged queries, one JSON object a line.
const QUERIES: &str = include_str!("judged.ndjson");

/// A judged query.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Judged {
    /// The catalog that it is for; `any` for both.
    catalog: Scope,
    kind: Kind,
    query: String,
    /// What a wanted record has: of each list one of its folded words, or of its sequences of words.
    rule: Vec<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scope {
    Demo,
    Records,
    Any,
}

/// The questions for a catalog.
pub(super) struct Selection {
    pub(super) questions: Vec<Question>,
    /// The queries that do not fit the catalog: no record fulfils their rule, or one has what should be absent.
    pub(super) left_out: Vec<String>,
}

impl Judged {
    fn is_for(&self, catalog: Catalog) -> bool {
        match self.catalog {
            Scope::Any => true,
            Scope::Demo => catalog == Catalog::Demo,
            Scope::Records => catalog == Catalog::Records,
        }
    }

    fn is_fulfilled_by(&self, record: &Record) -> bool {
        self.rule.iter().all(|alternatives| alternatives.iter().any(|words| record.has(words)))
    }

    /// Checks what no type says.
    fn check(&self) -> Result<()> {
        if self.query.trim().is_empty() || self.rule.is_empty() || self.rule.iter().any(Vec::is_empty) {
            bail!("it needs a query, and a rule of lists that are not empty");
        }
        match self.rule.iter().flatten().find(|words| fold(words).text != **words) {
            Some(words) => bail!("“{words}” is not folded; write “{}”", fold(words).text),
            None => Ok(()),
        }
    }
}

/// Returns the judged queries.
///
/// # Errors
///
/// If a line is not one.
pub(super) fn queries() -> Result<Vec<Judged>> {
    parse(QUERIES)
}

fn parse(text: &str) -> Result<Vec<Judged>> {
    let query = |(number, line): (usize, &str)| -> Result<Judged> {
        let parsed: Result<Judged> = serde_json::from_str(line).map_err(Into::into);
        let judged = parsed.and_then(|judged| judged.check().map(|()| judged));
        judged.with_context(|| format!("line {number} is not a judged query"))
    };
    (1..).zip(text.lines()).map(query).collect()
}

/// Returns the questions that fit a catalog.
pub(super) fn select(judged: &[Judged], catalog: Catalog, records: &[Record]) -> Selection {
    let mut selection = Selection { questions: Vec::new(), left_out: Vec::new() };
    for judged in judged.iter().filter(|judged| judged.is_for(catalog)) {
        let wanted = records.iter().filter(|record| judged.is_fulfilled_by(record));
        let (kind, query) = (judged.kind, judged.query.clone());
        let question = Question { kind, query, wanted: wanted.map(|record| record.slug.clone()).collect() };
        if question.wanted.is_empty() == (kind == Kind::Absent) {
            selection.questions.push(question);
        } else {
            selection.left_out.push(question.query);
        }
    }
    selection
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;

    const CHAIRS: &str =
        r#"{"catalog":"demo","kind":"plural","query":"oak chairs","rule":[["oak"],["chair","arm chair"]]}"#;

    fn record(slug: &str, name: &str) -> Record {
        Record::new(&json!({"slug": slug, "name": name})).unwrap()
    }

    #[test]
    fn a_rule_wants_one_of_each_list() {
        let judged = parse(CHAIRS).unwrap();
        let records = [
            record("a", "Oak Chair"),
            record("b", "Arm Chair of Oak"),
            record("c", "Oak"),
            record("d", "Oak Chairs"),
        ];
        let selection = select(&judged, Catalog::Demo, &records);
        let wanted: Vec<_> = selection.questions.iter().map(|question| question.wanted.clone()).collect();
        assert_eq!(wanted, [["a".to_owned(), "b".to_owned()].into()]);
        assert!(select(&judged, Catalog::Records, &records).questions.is_empty());
    }

    #[test]
    fn queries_that_do_not_fit_the_catalog_are_left_out() {
        let absent = CHAIRS.replace("plural", "absent");
        let judged = parse(&format!("{CHAIRS}\n{absent}")).unwrap();
        let kinds = |records: &[Record]| -> (Vec<Kind>, Vec<String>) {
            let Selection { questions, left_out } = select(&judged, Catalog::Demo, records);
            (questions.iter().map(|question| question.kind).collect(), left_out)
        };
        let left_out = vec!["oak chairs".to_owned()];
        assert_eq!(kinds(&[record("a", "Oak Chair")]), (vec![Kind::Plural], left_out.clone()));
        assert_eq!(kinds(&[record("a", "Elm Chair")]), (vec![Kind::Absent], left_out));
    }

    #[test]
    fn a_line_that_is_no_judged_query_is_named() {
        let cases = [
            ("oak\"]", "Öak\"]", "“Öak” is not folded; write “oak”"),
            ("[\"oak\"]", "[]", "it needs a query, and a rule of lists that are not empty"),
            ("oak chairs", " ", "it needs a query, and a rule of lists that are not empty"),
        ];
        for (from, to, reason) in cases {
            let error = parse(&format!("{CHAIRS}\n{}", CHAIRS.replacen(from, to, 1))).unwrap_err();
            assert_eq!(format!("{error:#}"), format!("line 2 is not a judged query: {reason}"));
        }
        for (from, to) in [("plural", "exact-name"), ("demo", "museum"), ("\"kind\"", "\"sort\"")] {
            let error = parse(&CHAIRS.replacen(from, to, 1)).unwrap_err();
            assert!(format!("{error:#}").starts_with("line 1 is not a judged query: "), "{error:#}");
        }
    }

    #[test]
    fn every_query_for_the_demo_catalog_fits_it() {
        let records: Vec<Record> = demo::catalog(demo::DEMO_SEED, demo::DEMO_SIZE)
            .map(|record| Record::new(&Value::Object(record)).unwrap())
            .collect();
        let Selection { questions, left_out } = select(&queries().unwrap(), Catalog::Demo, &records);
        assert_eq!(left_out, [""; 0]);
        let mut kinds = BTreeMap::<Kind, usize>::new();
        for question in &questions {
            *kinds.entry(question.kind).or_default() += 1;
        }
        // The demo catalog has no initials.
        assert_eq!(kinds.len(), 12, "{kinds:?}");
        assert!(kinds.values().all(|queries| *queries >= 8), "{kinds:?}");
    }
}
