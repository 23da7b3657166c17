//! `discover`: a random project.

use answers::catalog::json_writer::JsonWriter;
use answers::error::ApiError;
use rand::TryRng;
use rand::rngs::SysRng;
use schemas::record::Category;

use super::listing::{self, listed};
use super::{CallContext, Run, Tool};
use crate::tools::answer::{Answer, Answered};
use crate::tools::input::input;

pub(super) static TOOL: Tool = Tool {
    name: "discover",
    title: "Discover one by chance",
    description: "Use this when the user wants to be surprised: one project drawn at random from the whole archive, or from one category.",
    input: Input::schema,
    output: listed!("", "", ""),
    arguments: Input::NAMES,
    example: r#"{"category":"photography"}"#,
    is_counted: true,
    writes: false,
    run: Run::Ready(|context, arguments| run(context, Input::read(arguments)?)),
};

input! {
    category: Option<Category>,
}

fn run<'a>(context: CallContext<'a>, input: Input) -> Answered<'a> {
    let Input { category } = input;
    let now = context.state.listing()?;
    let draw = SysRng.try_next_u64().map_err(ApiError::internal)?;
    let drawn = now.random(category, draw).and_then(|ordinal| now.summary_of(ordinal));
    let mut json = JsonWriter::object(context.state.site(), 2_048);
    json.member("count", &drawn.iter().len())?;
    json.member("total", &now.listed(category))?;
    json.projects("results", drawn.map(|summary| (summary, ())), |_, ()| Ok(()))?;
    listing::preview(&mut json, context, drawn.iter().len(), now.listed(category))?;
    let answer = Answer::new(json);
    if drawn.is_none() {
        return Ok(
            answer.note("There is nothing to be drawn from yet. Leave category out, or try again later.")
        );
    }
    Ok(answer)
}
