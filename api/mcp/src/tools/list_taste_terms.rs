//! `list_taste_terms`: the words that curators use, for searches by taste.

use answers::catalog::json_writer::JsonWriter;
use schemas::record::Category;
use schemas::taste::Dimension;
use serde::Serialize;

use super::{CallContext, Run, Tool};
use crate::tools::answer::{Answer, Answered};
use crate::tools::arguments::Limit;
use crate::tools::input::input;

pub(super) static TOOL: Tool = Tool {
    name: "list_taste_terms",
    title: "List taste terms",
    description: "Use this before search_by_taste to learn which words the six dimensions use and how many projects each finds. Free of charge.",
    input: Input::schema,
    output: r#"{"type":"object","properties":{"dimensions":{"type":"array","items":{"type":"object","properties":{"dimension":{"type":"string"},"distinct":{"type":"integer"},"terms":{"type":"array","items":{"type":"object","properties":{"term":{"type":"string"},"projects":{"type":"integer"}}}}}}},"note":{"type":"string"}},"required":["dimensions"]}"#,
    arguments: Input::NAMES,
    example: r#"{"dimension":"material","limit":20}"#,
    is_counted: false,
    writes: false,
    run: Run::Ready(|context, arguments| run(context, Input::read(arguments)?)),
};

input! {
    dimension: Option<Dimension>,
    category: Option<Category>,
    limit: Limit = "words a dimension",
}

#[derive(Serialize)]
struct UsedTerms {
    dimension: &'static str,
    /// The number of different words.
    distinct: u64,
    terms: Vec<Term>,
}

#[derive(Serialize)]
struct Term {
    term: String,
    projects: u64,
}

fn run<'a>(context: CallContext<'a>, input: Input) -> Answered<'a> {
    let Input { dimension, category, limit } = input;
    let now = context.state.listing()?;
    let used = now.terms(dimension, category, limit.results).into_iter().map(|of| UsedTerms {
        dimension: of.dimension.as_str(),
        distinct: of.distinct,
        terms: of.terms.into_iter().map(|term| Term { term: term.term, projects: term.projects }).collect(),
    });
    let used: Vec<UsedTerms> = used.collect();
    let mut json = JsonWriter::object(context.state.site(), 4_096);
    json.member("dimensions", &used)?;
    let answer = Answer::new(json);
    if used.iter().all(|of| of.terms.is_empty()) {
        return Ok(answer.note("No project says anything here yet. Leave category or dimension out."));
    }
    if used.iter().any(|of| of.distinct > of.terms.len() as u64) {
        return Ok(answer.note(format!(
            "Only the first {} words of a dimension are shown, the most used; distinct says how many there are.",
            limit.results
        )));
    }
    Ok(answer)
}
