//! The ten tools. Each has a file: what it is called, what it takes and gives, and what it does.

pub(super) mod answer;
pub(super) mod arguments;
mod browse;
mod discover;
mod fetch;
mod get_api_key;
mod get_project;
mod list_taste_terms;
mod listing;
mod record;
mod search;
mod search_by_taste;
mod search_projects;
mod similar_projects;

use std::net::IpAddr;
use std::time::Duration;

use crate::auth::principal::Principal;
use crate::deadline::Deadline;
use crate::state::ApiState;

use crate::mcp::tools::answer::Answered;
use crate::mcp::tools::arguments::Arguments;

/// A tool as agents see it. All texts are JSON where the protocol wants JSON.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// The JSON Schema of the arguments: flat, without `$ref`, type arrays and `anyOf`, which some clients refuse.
    pub(super) input: &'static str,
    /// The JSON Schema of the structured content, in the same manner.
    pub(super) output: &'static str,
    /// The names of the arguments.
    pub(super) arguments: &'static [&'static str],
    /// Arguments that work, shown where others did not; [`NEWEST`] stands for the newest project.
    pub(super) example: &'static str,
    /// Whether a call with a key is counted.
    pub(super) is_counted: bool,
    /// Whether it changes anything.
    pub(super) writes: bool,
}

/// All of them, in the order in which they are listed.
pub(super) static TOOLS: [&Tool; 10] = [
    &search_projects::TOOL,
    &search_by_taste::TOOL,
    &browse::TOOL,
    &discover::TOOL,
    &similar_projects::TOOL,
    &get_project::TOOL,
    &list_taste_terms::TOOL,
    &get_api_key::TOOL,
    &search::TOOL,
    &fetch::TOOL,
];

/// What a tool answers from, and whom.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) state: &'a ApiState,
    pub(super) principal: &'a Principal,
    /// The address that the call comes from.
    pub(super) address: IpAddr,
    /// When the time of the request is up, with all the calls that are in it.
    pub(super) deadline: Deadline,
    /// How long the caller has to wait, where too many calls came within a second.
    pub(super) wait: Option<Duration>,
}

/// Stands for the slug of the newest project in examples.
const NEWEST: &str = "{newest}";

/// Arguments that work on this catalog.
pub(super) fn example(asked: Asked<'_>, tool: &Tool) -> String {
    if !tool.example.contains(NEWEST) {
        return tool.example.to_owned();
    }
    let slug = asked.state.newest_slug();
    tool.example.replace(NEWEST, slug.as_deref().unwrap_or("slug-of-a-result"))
}

/// The tool of that name.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.into_iter().find(|tool| tool.name == name)
}

/// All names, as they stand in a sentence.
pub(super) fn names() -> String {
    TOOLS.map(|tool| tool.name).join(", ")
}

/// Each name with what the tool is for.
pub(crate) fn described() -> impl Iterator<Item = (&'static str, &'static str)> {
    TOOLS.into_iter().map(|tool| (tool.name, tool.description))
}

/// Lets a tool do its work.
pub(super) async fn run<'a>(tool: &Tool, asked: Asked<'a>, arguments: &mut Arguments<'_>) -> Answered<'a> {
    match tool.name {
        "search_projects" => search_projects::run(asked, arguments),
        "search_by_taste" => search_by_taste::run(asked, arguments),
        "browse" => browse::run(asked, arguments),
        "discover" => discover::run(asked, arguments),
        "list_taste_terms" => list_taste_terms::run(asked, arguments),
        "similar_projects" => similar_projects::run(asked, arguments).await,
        "get_project" => get_project::run(asked, arguments).await,
        "get_api_key" => get_api_key::run(asked, arguments).await,
        "search" => search::run(asked, arguments),
        "fetch" => fetch::run(asked, arguments).await,
        other => Err(answer::Refusal::guided(format!("The tool {other} is not there."))),
    }
}
