//! The tools. Each has a file with its name, texts, input, example and work, and its line in the registry [`TOOLS`]; listing,
//! dispatch and documentation follow from there.

pub(super) mod answer;
pub(super) mod arguments;
mod browse;
mod discover;
mod fetch;
mod get_api_key;
mod get_project;
mod input;
mod list_taste_terms;
mod listing;
mod options;
pub(super) mod quota;
mod record;
mod search;
mod search_by_taste;
mod search_projects;
mod similar_projects;

use std::net::IpAddr;
use std::time::Duration;

use futures::future::BoxFuture;

use answers::auth::principal::Principal;
use answers::deadline::Deadline;
use answers::state::ApiState;

use crate::tools::answer::Answered;
use crate::tools::arguments::Arguments;

/// A tool: its description for agents, and its function.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// Returns the JSON Schema of the arguments.
    pub(super) input: fn() -> serde_json::Value,
    /// The JSON Schema of the structured content, as flat as that of the arguments. For brevity only that of `get_project` has members of
    /// a project.
    pub(super) output: &'static str,
    /// The names of the arguments.
    pub(super) arguments: &'static [&'static str],
    /// Valid arguments, shown when others were invalid; [`NEWEST`] is replaced by the newest project.
    pub(super) example: &'static str,
    /// Whether a call with a key is charged.
    pub(super) is_counted: bool,
    /// Whether it changes something.
    pub(super) writes: bool,
    pub(super) run: Run,
}

/// The function of a tool.
#[derive(Debug)]
pub(super) enum Run {
    /// Takes microseconds and does not wait, whatever it is asked for.
    Ready(for<'a> fn(CallContext<'a>, &mut Arguments<'_>) -> Answered<'a>),
    /// Reads from a disk, sends a command, or waits for its turn where it is asked for much.
    Waiting(for<'a> fn(CallContext<'a>, &mut Arguments<'_>) -> BoxFuture<'a, Answered<'a>>),
}

/// The registry: all tools, in the order in which they are listed.
pub(super) static TOOLS: &[&Tool] = &[
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

/// The context of a call: the state of the service and the caller.
#[derive(Clone, Copy)]
pub(super) struct CallContext<'a> {
    pub(super) state: &'a ApiState,
    pub(super) principal: &'a Principal,
    /// The address of the caller.
    pub(super) address: IpAddr,
    /// The deadline of the request with all its calls.
    pub(super) deadline: Deadline,
    /// How long the caller has to wait, if the rate limit is exceeded.
    pub(super) wait: Option<Duration>,
}

/// The placeholder for the slug of the newest project in examples.
const NEWEST: &str = "{newest}";

/// Returns arguments of a tool that are valid in this catalog.
pub(super) fn example(context: CallContext<'_>, tool: &Tool) -> String {
    if !tool.example.contains(NEWEST) {
        return tool.example.to_owned();
    }
    let slug = context.state.newest_slug();
    tool.example.replace(NEWEST, slug.as_deref().unwrap_or("slug-of-a-result"))
}

/// Returns the tool with this name.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().copied().find(|tool| tool.name == name)
}

/// Returns all names, separated by commas.
pub(super) fn names() -> String {
    TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
}

/// Iterates over the names and descriptions of the tools.
pub fn described() -> impl Iterator<Item = (&'static str, &'static str)> {
    TOOLS.iter().map(|tool| (tool.name, tool.description))
}

/// Runs a tool.
pub(super) async fn run<'a>(
    tool: &Tool,
    context: CallContext<'a>,
    arguments: &mut Arguments<'_>,
) -> Answered<'a> {
    match tool.run {
        Run::Ready(run) => run(context, arguments),
        Run::Waiting(run) => run(context, arguments).await,
    }
}
