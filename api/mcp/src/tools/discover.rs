//! `discover`: a random project.

use answers::catalog::browse::{self, NOTHING_TO_DRAW};
use answers::catalog::detail::Detail;
use answers::catalog::json_writer::JsonWriter;
use answers::catalog::taste_records::TasteRecords;
use schemas::record::Category;

use super::listing::{self, listed};
use super::{CallContext, Run, Tool};
use crate::tools::answer::{Answer, Answered};
use crate::tools::input::input;

pub(super) static TOOL: Tool = Tool {
    name: "discover",
    title: "Discover one by chance",
    description: "Use this when the user wants to be surprised: one project at random, of one category or of all.",
    input: Input::schema,
    output: listed!("", ""),
    arguments: Input::NAMES,
    example: r#"{"category":"photography"}"#,
    is_counted: true,
    writes: false,
    run: Run::Waiting(|context, arguments| {
        let input = Input::read(arguments);
        Box::pin(async move { run(context, input?).await })
    }),
};

input! {
    category: Option<Category>,
    detail: Option<Detail>,
}

async fn run<'a>(context: CallContext<'a>, input: Input) -> Answered<'a> {
    let Input { category, detail } = input;
    let detail = detail.unwrap_or_default();
    let now = context.state.listing()?;
    let mut drawn = browse::draw(&now, category)?;
    let mut records = TasteRecords::of_one(context.state, detail, drawn).await?;
    records.fill(drawn.as_mut_slice(), |summary| summary);
    let mut json = JsonWriter::object(context.state.site(), 2_048);
    json.member("count", &drawn.iter().len())?;
    json.member("total", &now.listed(category))?;
    json.projects("results", drawn.map(|summary| (detail.of(summary), ())), |_, ()| Ok(()))?;
    listing::preview(&mut json, (context, detail), drawn.iter().len(), now.listed(category))?;
    let answer = Answer::new(json).of_total(now.listed(category));
    Ok(if drawn.is_none() { answer.note(NOTHING_TO_DRAW) } else { answer })
}
