//! `list_taste_terms`: the words that curators use, for searches by taste.

use answers::catalog::json_writer::JsonWriter;
use answers::catalog::terms::{self, LONGEST_BEGINNING, NEAR_ALONE, NO_DIMENSION, TermsFault, TermsRequest};
use read::archive::{Cursor, TermKind};
use schemas::record::Category;
use schemas::taste::Dimension;

use super::{CallContext, Run, Tool};
use crate::tools::answer::{Answer, Answered, Refusal};
use crate::tools::arguments::Limit;
use crate::tools::input::{Text, input};

pub(super) static TOOL: Tool = Tool {
    name: "list_taste_terms",
    title: "List taste terms",
    description: "Use this before search_by_taste: the words or phrases of the six dimensions, and how many projects each finds. Without arguments also catalog: how many projects have which member at all. Free of charge.",
    input: Input::schema,
    output: r#"{"type":"object","properties":{"catalog":{"type":"object"},"dimensions":{"type":"array"},"next_cursor":{"type":["string","null"]},"note":{"type":"string"}},"required":["dimensions"]}"#,
    arguments: Input::NAMES,
    example: r#"{"dimension":"material","limit":20}"#,
    is_counted: false,
    writes: false,
    run: Run::Ready(|context, arguments| {
        if arguments.has("cursor") && !arguments.has("dimension") {
            arguments.fault(format!("cursor {NO_DIMENSION}"));
        }
        if arguments.has("near") && (arguments.has("cursor") || arguments.has("starts_with")) {
            arguments.fault(format!("near {NEAR_ALONE}"));
        }
        run(context, Input::read(arguments)?)
    }),
};

input! {
    dimension: Option<Dimension> = "One of the six; all if left out",
    category: Option<Category>,
    kind: Option<TermKind> = "Single words, or whole phrases",
    starts_with: Option<Text<LONGEST_BEGINNING>> = "First letters, e.g. oa",
    near: Option<Text<LONGEST_BEGINNING>> = "Near in meaning, e.g. peaceful",
    limit: Limit = "Words a dimension",
    cursor: Option<Cursor> = "a page's next_cursor; needs dimension",
}

fn run<'a>(context: CallContext<'a>, input: Input) -> Answered<'a> {
    let Input { dimension, category, kind, starts_with, near, limit, cursor } = input;
    let [starts_with, near] = [starts_with, near].map(|text| text.map(|Text(text)| text).unwrap_or_default());
    let (kind, limit) = (kind.unwrap_or_default(), limit.results);
    let request = TermsRequest { dimension, category, kind, starts_with, near, limit, after: cursor };
    let found = terms::find(context.state, request).map_err(|fault| match fault {
        TermsFault::InvalidCursor(error) => Refusal::guided(error.to_string()),
        TermsFault::Failed(error) => error.into(),
    })?;
    let mut json = JsonWriter::object(context.state.site(), 4_096);
    found.write(&mut json)?;
    let mut answer = Answer::new(json);
    answer.notes.extend(found.note().map(Into::into));
    Ok(answer)
}
