//! `list_taste_terms`: the words that curators use, for searches by taste.

use answers::catalog::json_writer::JsonWriter;
use answers::catalog::terms::{self, TermsRequest};
use schemas::record::Category;
use schemas::taste::Dimension;

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

fn run<'a>(context: CallContext<'a>, input: Input) -> Answered<'a> {
    let Input { dimension, category, limit } = input;
    let now = context.state.listing()?;
    let mut json = JsonWriter::object(context.state.site(), 4_096);
    let request = TermsRequest { dimension, category, limit: limit.results };
    let note = terms::write(&mut json, &now, request)?;
    let mut answer = Answer::new(json);
    answer.notes.extend(note.map(Into::into));
    Ok(answer)
}
