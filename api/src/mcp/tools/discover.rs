//! `discover`: one project by chance.

use rand::TryRng;
use rand::rngs::SysRng;

use super::listing::{self, listed};
use super::{Asked, Tool};
use crate::fault::Fault;
use crate::json_writer::JsonWriter;
use crate::mcp::answer::{Answer, Answered};
use crate::mcp::arguments::Arguments;

pub(super) static TOOL: Tool = Tool {
    name: "discover",
    title: "Discover one by chance",
    description: "Use this when the user wants to be surprised: one project drawn at random from the whole archive, or from one category.",
    input: r#"{"type":"object","properties":{"category":{"type":"string","enum":["architecture","interiors","design","photography","art"]}}}"#,
    output: listed!("", "", ""),
    arguments: &["category"],
    example: r#"{"category":"photography"}"#,
    is_counted: true,
    writes: false,
};

/// One that was drawn may have left the search index a moment ago; then another is drawn.
const DRAWS: usize = 8;

pub(super) fn run<'a>(asked: Asked<'a>, arguments: &mut Arguments<'_>) -> Answered<'a> {
    let category = arguments.category();
    arguments.check()?;
    let (archive, view) = (asked.state.archive()?, asked.state.search()?.reader.view());
    let mut drawn = None;
    for _ in 0..DRAWS {
        let draw = SysRng.try_next_u64().map_err(Fault::internal)?;
        let Some(ordinal) = archive.reader.random(category, draw) else { break };
        drawn = view.summary_of(ordinal);
        if drawn.is_some() {
            break;
        }
    }
    let mut json = JsonWriter::object(asked.state.site(), 2_048);
    json.member("count", &drawn.iter().len())?;
    json.member("total", &archive.reader.listed(category))?;
    json.projects("results", drawn.map(|summary| (summary, ())), |_, ()| Ok(()))?;
    listing::preview(&mut json, asked, drawn.iter().len(), archive.reader.listed(category))?;
    let answer = Answer::new(json);
    if drawn.is_none() {
        return Ok(
            answer.note("There is nothing to be drawn from yet. Leave category out, or try again later.")
        );
    }
    Ok(answer)
}
