//! The suite of the search by meaning: whether judged questions find what people consider right, whether `mode=both` keeps all
//! matches of words, and what a search by meaning costs.
//!
//! - `questions`: the judged questions. They are about one catalog of museums; in another they are left out.
//! - `score`: the right answers among the first ten results, and the matches that another mode keeps.

mod questions;
mod score;

use std::collections::HashSet;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::load::{self, Connection, Request};
use crate::queries::encode;
use crate::relevance::{self, Catalog};
use crate::searching::{self, cpu_of_requests, median};
use crate::server::Server;
use crate::{Figure, queries};
use questions::{Question, questions};
use score::{Answer, KeptMatches, Tally};

/// The number of results that are looked at: the first page.
const PAGE: usize = 10;

/// The least share of the right answers in the modes with meaning.
const LEAST: f64 = 0.28;
/// How many times the hits of words alone the modes with meaning must have.
const TIMES_WORDS: f64 = 2.0;

/// The most CPU time of a search by meaning at up to 2,600 projects, in microseconds.
const MAX_CPU: f64 = 100.0;
/// The most that 99 of 100 searches by meaning take, in milliseconds.
const MAX_P99: f64 = 10.0;
/// The number of connections. At 100,000 projects a search takes milliseconds of a core, so with more they would only wait for
/// each other.
const CONNECTIONS: usize = 4;
/// The requests of a measurement at up to 2,600 projects, and at more, where each takes longer.
const REQUESTS: [usize; 2] = [60_000, 6_000];

/// What a search compares.
#[derive(Debug, Clone, Copy)]
enum Mode {
    Words,
    Meaning,
    Both,
}

impl Mode {
    const ALL: [Mode; 3] = [Mode::Words, Mode::Meaning, Mode::Both];

    fn name(self) -> &'static str {
        match self {
            Mode::Words => "words",
            Mode::Meaning => "meaning",
            Mode::Both => "both",
        }
    }

    fn path(self, text: &str) -> String {
        format!("/v1/search?limit={PAGE}&mode={}&q={}", self.name(), encode(text))
    }
}

/// What searches by meaning find in a catalog.
#[derive(Debug)]
pub struct Findings {
    /// Of each mode; `None` if the catalog lacks right answers.
    judged: Option<[Tally; 3]>,
    kept: KeptMatches,
    /// How many of the right answers of all judged questions the catalog lacks.
    pub lacking: usize,
}

impl Findings {
    /// Returns the share of the right answers in each mode, and the share of matches of all words that `mode=both` keeps; each mode with
    /// meaning, and what is kept, has a limit.
    pub fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        if let Some(judged) = &self.judged {
            let [words, ..] = judged;
            let least = LEAST.max(TIMES_WORDS * words.share());
            figures.push(Figure::new(
                "judged: right answers that fit in ten",
                words.possible as f64,
                "answers",
            ));
            for (mode, tally) in Mode::ALL.into_iter().zip(judged) {
                let figure = Figure::new(format!("judged, {}: in ten", mode.name()), tally.share(), "share");
                figures.push(if matches!(mode, Mode::Words) { figure } else { figure.at_least(least) });
            }
        }
        figures.push(Figure::new("matches of all words in ten", self.kept.shown as f64, "matches"));
        figures
            .push(Figure::new("those that mode=both keeps in ten", self.kept.share(), "share").at_least(1.0));
        figures
    }

    /// Returns sentences for the judged questions without a hit in the modes with meaning, and for some matches that were lost.
    pub fn misses(&self) -> Vec<String> {
        let without = Mode::ALL.into_iter().zip(self.judged.iter().flatten()).skip(1);
        let without = without.filter(|(_, tally)| !tally.without.is_empty()).map(|(mode, tally)| {
            format!("judged, {}: nothing right in ten for: {}", mode.name(), tally.without.join(", "))
        });
        without.chain(self.kept.misses.iter().cloned()).collect()
    }
}

/// Asks the judged questions in all modes, and the queries of the relevance suite by words and in `mode=both`. The records of the
/// server must have vectors.
///
/// # Errors
///
/// If the records cannot be exported, there are none, or a search fails.
pub async fn measure(server: &Server, seed: u64) -> Result<Findings> {
    let exported = server.loggia(&["export"]).await?;
    let mut connection = Connection::open(&server.address).await?;
    let slugs: HashSet<&str> = exported.iter().filter_map(|record| record["slug"].as_str()).collect();
    let questions = questions()?;
    let right = questions.iter().flat_map(|question| &question.right);
    let lacking = right.collect::<HashSet<_>>().into_iter().filter(|slug| !slugs.contains(*slug)).count();
    let judged = if lacking == 0 { Some(judged(&mut connection, &questions).await?) } else { None };
    let mut kept = KeptMatches::default();
    for query in relevance::whole_queries(&exported, Catalog::Records, seed)? {
        let words = ask(&mut connection, Mode::Words, &query).await?;
        kept.add(&query, &words, &ask(&mut connection, Mode::Both, &query).await?);
    }
    Ok(Findings { judged, kept, lacking })
}

async fn judged(connection: &mut Connection, questions: &[Question<'_>]) -> Result<[Tally; 3]> {
    let mut tallies = Mode::ALL.map(|_| Tally::default());
    for question in questions {
        for (mode, tally) in Mode::ALL.into_iter().zip(&mut tallies) {
            tally.add(question, &ask(connection, mode, question.text).await?);
        }
    }
    Ok(tallies)
}

async fn ask(connection: &mut Connection, mode: Mode, text: &str) -> Result<Answer> {
    let path = mode.path(text);
    let response = connection.get(&path).await?;
    if response.status != 200 {
        bail!("{path} was answered with {}: {}", response.status, String::from_utf8_lossy(&response.body));
    }
    let body: Value = serde_json::from_slice(&response.body)?;
    Answer::new(&body).with_context(|| format!("the answer to {path} is not one of a search: {body}"))
}

/// Measures the CPU time of searches by meaning, of the same by words, and of a bare route in turn, three times, and takes the medians.
/// The projects of the server, `size` of the demo catalog, must have vectors.
///
/// # Errors
///
/// If a request fails or the bare route does not start.
pub async fn cost(server: &Server, size: usize) -> Result<Vec<Figure>> {
    let texts = understood(server, queries::texts(demo::catalog(demo::DEMO_SEED, size))).await?;
    let paths = |mode: Mode| texts.iter().map(|text| mode.path(text)).collect::<Vec<_>>();
    let bodies = searching::answers(server, &paths(Mode::Meaning)).await?;
    let body = &bodies[bodies.len() / 2];
    let requests = |mode| paths(mode).iter().map(|path| Request::get(path)).collect::<Vec<_>>();
    let (by_meaning, by_words) = (requests(Mode::Meaning), requests(Mode::Words));
    let (bare, bare_address) = searching::start_bare(server, body).await?;
    let bare_pid = bare.id().context("the bare route has ended")?;
    let count = REQUESTS[usize::from(size > 2_600)];
    for address in [&server.address, &bare_address] {
        load::run(address, &by_meaning, CONNECTIONS, count / 6).await?;
    }
    let (mut ours, mut words, mut theirs, mut ratios, mut p99) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        let (cpu, outcome) =
            cpu_of_requests(server.pid()?, &server.address, &by_meaning, CONNECTIONS, count).await?;
        let (words_cpu, _) =
            cpu_of_requests(server.pid()?, &server.address, &by_words, CONNECTIONS, count).await?;
        let (bare_cpu, _) = cpu_of_requests(bare_pid, &bare_address, &by_meaning, CONNECTIONS, count).await?;
        ours.push(cpu);
        words.push(words_cpu);
        theirs.push(bare_cpu);
        ratios.push(cpu / bare_cpu);
        p99.push(outcome.percentile(0.99));
    }
    let cpu = Figure::new("CPU of a search by meaning", median(ours), "µs");
    let named = |what: String, value: f64, unit| Figure::new(what, value, unit);
    Ok(vec![
        named(format!("queries by meaning, answers of {} bytes", body.len()), texts.len() as f64, "queries"),
        if size <= 2_600 { cpu.at_most(MAX_CPU) } else { cpu },
        named("CPU of the same searches by words".into(), median(words), "µs"),
        named("CPU of the bare route in turn with them".into(), median(theirs), "µs"),
        named("CPU of a search by meaning against it".into(), median(ratios), "times"),
        named(format!("p99 by meaning over {CONNECTIONS} connections"), median(p99), "ms")
            .at_most_in(size, MAX_P99),
    ])
}

/// Returns the texts that have results by meaning: the model knows their words.
async fn understood(server: &Server, texts: Vec<String>) -> Result<Vec<String>> {
    let mut connection = Connection::open(&server.address).await?;
    let mut understood = Vec::new();
    for text in texts {
        if ask(&mut connection, Mode::Meaning, &text).await?.is_by_meaning() {
            understood.push(text);
        }
    }
    if understood.is_empty() {
        bail!("no query has results by meaning; `loggia models` shows whether the projects have vectors");
    }
    Ok(understood)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tally(hits: usize) -> Tally {
        let without = if hits == 0 { vec!["lunar glow".to_owned()] } else { Vec::new() };
        Tally { hits, possible: 10, without }
    }

    fn findings(judged: Option<[usize; 3]>) -> Findings {
        let answer = |slug| Answer::new(&json!({"results": [{"slug": slug, "score": 2.0}]})).unwrap();
        let mut kept = KeptMatches::default();
        kept.add("chairs", &answer("a"), &answer("a"));
        kept.add("stools", &answer("a"), &answer("b"));
        Findings { judged: judged.map(|judged| judged.map(tally)), kept, lacking: 0 }
    }

    #[test]
    fn both_modes_with_meaning_must_find_twice_what_words_find() {
        let shown = |judged| {
            let of = |figure: &Figure| (figure.name.clone(), figure.value, figure.holds());
            findings(Some(judged)).figures().iter().map(of).collect::<Vec<_>>()
        };
        let expected = |words, meaning, both| {
            [
                ("judged: right answers that fit in ten", 10.0, true),
                ("judged, words: in ten", words, true),
                ("judged, meaning: in ten", meaning, false),
                ("judged, both: in ten", both, true),
                ("matches of all words in ten", 2.0, true),
                ("those that mode=both keeps in ten", 0.5, false),
            ]
            .map(|(name, value, holds)| (name.to_owned(), value, holds))
        };
        assert_eq!(shown([0, 2, 3]), expected(0.0, 0.2, 0.3));
        assert_eq!(shown([3, 5, 6]), expected(0.3, 0.5, 0.6));
    }

    #[test]
    fn what_is_missed_is_named() {
        let lost = "“stools” does not show a with mode=both";
        assert_eq!(
            findings(Some([0, 0, 3])).misses(),
            ["judged, meaning: nothing right in ten for: lunar glow", lost]
        );
        let other_catalog = findings(None);
        assert_eq!(other_catalog.misses(), [lost]);
        assert_eq!(other_catalog.figures().len(), 2);
    }
}
