//! `list_taste_terms`: the words that curators really use, without which a search by taste is guessing.

use read::archive::Dimension;
use serde::Serialize;

use super::{Asked, Tool};
use crate::answers::json_writer::JsonWriter;
use crate::mcp::tools::answer::{Answer, Answered};
use crate::mcp::tools::arguments::Arguments;

pub(super) static TOOL: Tool = Tool {
    name: "list_taste_terms",
    title: "List taste terms",
    description: "Use this before search_by_taste to learn which words the six dimensions use and how many projects each finds. Free of charge.",
    input: r#"{"type":"object","properties":{"dimension":{"type":"string","enum":["material","light","color","mood","composition","subject"]},"category":{"type":"string","enum":["architecture","interiors","design","photography","art"]},"limit":{"type":"integer","minimum":1,"maximum":20,"default":10,"description":"words a dimension"}}}"#,
    output: r#"{"type":"object","properties":{"dimensions":{"type":"array","items":{"type":"object","properties":{"dimension":{"type":"string"},"distinct":{"type":"integer"},"terms":{"type":"array","items":{"type":"object","properties":{"term":{"type":"string"},"projects":{"type":"integer"}}}}}}},"note":{"type":"string"}},"required":["dimensions"]}"#,
    arguments: &["dimension", "category", "limit"],
    example: r#"{"dimension":"material","limit":20}"#,
    is_counted: false,
    writes: false,
};

#[derive(Serialize)]
struct Told {
    dimension: &'static str,
    /// How many different words there are.
    distinct: u64,
    terms: Vec<Term>,
}

#[derive(Serialize)]
struct Term {
    term: String,
    projects: u64,
}

pub(super) fn run<'a>(asked: Asked<'a>, arguments: &mut Arguments<'_>) -> Answered<'a> {
    let all = Dimension::ALL.map(Dimension::as_str).join(", ");
    let dimension = arguments.parsed("dimension", Dimension::parse, &format!("one of {all}"));
    let (category, limit) = (arguments.category(), arguments.limit());
    arguments.check()?;
    let now = asked.state.listing()?;
    let told = now.terms(dimension, category, limit.results).into_iter().map(|of| Told {
        dimension: of.dimension.as_str(),
        distinct: of.distinct,
        terms: of.terms.into_iter().map(|term| Term { term: term.term, projects: term.projects }).collect(),
    });
    let told: Vec<Told> = told.collect();
    let mut json = JsonWriter::object(asked.state.site(), 4_096);
    json.member("dimensions", &told)?;
    let answer = Answer::new(json);
    if told.iter().all(|of| of.terms.is_empty()) {
        return Ok(answer.note("No project says anything here yet. Leave category or dimension out."));
    }
    if told.iter().any(|of| of.distinct > of.terms.len() as u64) {
        return Ok(answer.note(format!(
            "Only the first {} words of a dimension are shown, the most used; distinct says how many there are.",
            limit.results
        )));
    }
    Ok(answer)
}
