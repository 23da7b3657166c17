//! The relevance suite: whether what is wanted is among the first ten results, and whether it is the first.
//!
//! It asks two sorts of questions. Judged queries come from a file with a rule that says which records they want; known items are
//! drawn from the records themselves, with a seed: a name as it is, with a typing error, unfinished. What is wanted is computed
//! from the exported records without the code of the search, so that a fault of that code cannot hide itself.
//!
//! - `judged`: the judged queries and their rules; `known_items`: the drawn ones, and typing errors.
//! - `words`: the words of a record; `score`: what an answer is worth, and sums by kind.

mod judged;
mod known_items;
mod score;
mod words;

use std::collections::{BTreeMap, HashSet};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::Figure;
use crate::load::Connection;
use crate::queries::encode;
use crate::server::Server;
use score::{Answer, Tally};
use words::Record;

/// The seed of the known items if none is given.
pub const SEED: u64 = 1;

/// The least share of what is wanted that must be among the first results, for each kind of query.
const LEAST: f64 = 0.95;

/// The number of results that are looked at: the first page.
const PAGE: usize = 10;

/// The catalog that is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Catalog {
    /// The demo catalog.
    Demo,
    /// The records of a file.
    Records,
}

/// What is difficult about a query. The order is that of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// Typed in plural; records may have the singular.
    Plural,
    /// Typed in singular; records may have the plural.
    Singular,
    /// A word that ends like a plural and is none.
    Ending,
    /// The possessive, with and without its apostrophe.
    Possessive,
    /// `and` for `&`, or the other way round.
    And,
    /// With function words that the records do not have.
    StopWords,
    /// One word, typed as two.
    TwoWords,
    /// A hyphened word, typed without its hyphen.
    Compound,
    /// A plural that has another stem.
    Irregular,
    /// Initials, typed without their points.
    Initials,
    /// People, practices and places, typed without accents.
    Names,
    /// A typing error.
    Typo,
    /// What no record has: no results, or results that are said to be approximate.
    Absent,
    /// A name as it is.
    #[serde(skip)]
    ExactName,
    /// A name in lower case without its accents.
    #[serde(skip)]
    NameWithoutAccents,
    /// A name with one typing error.
    #[serde(skip)]
    NameWithTypo,
    /// A name whose last word is not typed to its end.
    #[serde(skip)]
    UnfinishedName,
    /// A studio as it is.
    #[serde(skip)]
    Studio,
}

/// A query, and the slugs of the records that it wants. With none it wants to be told that there is nothing.
struct Question {
    kind: Kind,
    query: String,
    wanted: HashSet<String>,
}

/// What was measured on one catalog.
#[derive(Debug)]
pub struct Relevance {
    catalog: Catalog,
    kinds: BTreeMap<Kind, Tally>,
    /// The judged queries that were left out, because they do not fit the catalog.
    pub left_out: Vec<String>,
}

impl Catalog {
    fn name(self) -> &'static str {
        match self {
            Catalog::Demo => "demo",
            Catalog::Records => "records",
        }
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Plural => "plural",
            Kind::Singular => "singular",
            Kind::Ending => "ending",
            Kind::Possessive => "possessive",
            Kind::And => "and",
            Kind::StopWords => "stop words",
            Kind::TwoWords => "two words",
            Kind::Compound => "compound",
            Kind::Irregular => "irregular",
            Kind::Initials => "initials",
            Kind::Names => "names",
            Kind::Typo => "typo",
            Kind::Absent => "absent",
            Kind::ExactName => "exact name",
            Kind::NameWithoutAccents => "name without accents",
            Kind::NameWithTypo => "name with a typo",
            Kind::UnfinishedName => "unfinished name",
            Kind::Studio => "studio",
        }
    }
}

impl Relevance {
    /// Returns three figures for each kind: the number of queries, the share of what they want among the first ten results, which
    /// has a limit, and how often the first result is wanted.
    pub fn figures(&self) -> Vec<Figure> {
        let of_kind = |(kind, tally): (&Kind, &Tally)| {
            let name = |what: &str| format!("{}, {}: {what}", self.catalog.name(), kind.name());
            [
                Figure::new(name("queries"), tally.queries as f64, "queries"),
                Figure::new(name("in ten"), tally.in_ten(), "share").at_least(LEAST),
                Figure::new(name("first"), tally.first(), "share"),
            ]
        };
        self.kinds.iter().flat_map(of_kind).collect()
    }

    /// Returns a sentence for some of the queries of each kind that did not find all they want.
    pub fn misses(&self) -> Vec<String> {
        let of_kind = |(kind, tally): (&Kind, &Tally)| {
            let start = format!("{}, {}", self.catalog.name(), kind.name());
            tally.misses.iter().map(|miss| format!("{start}: {miss}")).collect::<Vec<_>>()
        };
        self.kinds.iter().flat_map(of_kind).collect()
    }
}

/// Asks all questions about the catalog of a server, of which `catalog` says which one it is.
///
/// # Errors
///
/// If the records cannot be exported, there are none, or a search fails.
pub async fn measure(server: &Server, catalog: Catalog, seed: u64) -> Result<Relevance> {
    let judged::Selection { questions, left_out } =
        questions(&server.loggia(&["export"]).await?, catalog, seed)?;
    let mut connection = Connection::open(&server.address).await?;
    let mut kinds = BTreeMap::<Kind, Tally>::new();
    for question in questions {
        let answer = ask(&mut connection, &question.query).await?;
        kinds.entry(question.kind).or_default().add(&question, &answer);
    }
    Ok(Relevance { catalog, kinds, left_out })
}

/// Returns all questions that fit these exported records, the drawn ones too.
fn questions(exported: &[Value], catalog: Catalog, seed: u64) -> Result<judged::Selection> {
    let records: Vec<Record> = exported.iter().map(Record::new).collect::<Result<_>>()?;
    if records.is_empty() {
        bail!("there is nothing to search in: the catalog has no records; name a file that has some");
    }
    let mut selection = judged::select(&judged::queries()?, catalog, &records);
    selection.questions.extend(known_items::draw(&records, seed));
    Ok(selection)
}

/// Returns the queries of all questions that fit these exported records, without unfinished names: what begins with one need not have all
/// its words.
pub(crate) fn whole_queries(exported: &[Value], catalog: Catalog, seed: u64) -> Result<Vec<String>> {
    let questions = questions(exported, catalog, seed)?.questions.into_iter();
    Ok(questions.filter(|one| one.kind != Kind::UnfinishedName).map(|one| one.query).collect())
}

async fn ask(connection: &mut Connection, query: &str) -> Result<Answer> {
    let response = connection.get(&format!("/v1/search?limit={PAGE}&q={}", encode(query))).await?;
    if response.status != 200 {
        let body = String::from_utf8_lossy(&response.body);
        bail!("the search for “{query}” was answered with {}: {body}", response.status);
    }
    let body: Value = serde_json::from_slice(&response.body)?;
    Answer::new(&body).with_context(|| format!("the answer to “{query}” is not one of a search: {body}"))
}

/// Returns a table in Markdown: a row for each kind, three columns for each catalog.
pub fn table(measured: &[Relevance]) -> Vec<String> {
    let mut heading = String::from("| kind of query |");
    let mut rule = String::from("|---|");
    for Relevance { catalog, .. } in measured {
        heading.push_str(&format!(" {}: queries | in ten | first |", catalog.name()));
        rule.push_str("---|---|---|");
    }
    let mut kinds: Vec<Kind> = measured.iter().flat_map(|one| one.kinds.keys().copied()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let row = |kind: Kind| {
        let cells = measured.iter().map(|one| match one.kinds.get(&kind) {
            Some(tally) => format!(" {} | {:.3} | {:.3} |", tally.queries, tally.in_ten(), tally.first()),
            None => " | | |".to_owned(),
        });
        format!("| {} |{}", kind.name(), cells.collect::<String>())
    };
    [heading, rule].into_iter().chain(kinds.into_iter().map(row)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn measured(catalog: Catalog, kind: Kind) -> Relevance {
        let question = Question { kind, query: "chairs".into(), wanted: ["a".to_owned()].into() };
        let mut tally = Tally::default();
        for results in [json!([{"slug": "a"}]), json!([{"slug": "b"}])] {
            let answer = json!({"total": 1, "approximate": false, "results": results});
            tally.add(&question, &Answer::new(&answer).unwrap());
        }
        Relevance { catalog, kinds: [(kind, tally)].into(), left_out: Vec::new() }
    }

    #[test]
    fn a_kind_has_three_figures_of_which_one_has_a_limit() {
        let figures = measured(Catalog::Demo, Kind::Plural).figures();
        let shown: Vec<_> =
            figures.iter().map(|figure| (&figure.name[..], figure.value, figure.holds())).collect();
        let expected = [
            ("demo, plural: queries", 2.0, true),
            ("demo, plural: in ten", 0.5, false),
            ("demo, plural: first", 0.5, true),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_table_has_a_row_for_each_kind_of_any_catalog() {
        let measured = [measured(Catalog::Demo, Kind::Plural), measured(Catalog::Records, Kind::Initials)];
        let expected = [
            "| kind of query | demo: queries | in ten | first | records: queries | in ten | first |",
            "|---|---|---|---|---|---|---|",
            "| plural | 2 | 0.500 | 0.500 | | | |",
            "| initials | | | | 2 | 0.500 | 0.500 |",
        ];
        assert_eq!(table(&measured), expected);
    }
}
