//! The page of the state: what runs, since when, and what it answered.

use schemas::control::ProjectionStatus;
use schemas::ids::Position;

use super::*;

#[tokio::test]
async fn the_state_tells_people_what_runs_and_what_it_answered() {
    let catalog = ProjectionStatus { position: Position(1_234), lag: 2, ..ProjectionStatus::new("catalog") };
    let node = Node::start_behind(vec![catalog]).await;
    assert_eq!(node.get("/v1/search?q=street").await.status, 200);
    let reply = node.get("/status").await;
    let page = reply.text();
    let (before, after) = page.split_once("<section class=\"section\"><h2>What runs</h2>").unwrap();
    let (shown, for_operators) = after.split_once("<details").unwrap();
    assert!(before.contains("<h1>All systems operational</h1>"), "{before}");
    let figure = |name: &str, value: &str| format!("<div><dt>{name}</dt><dd>{value}</dd></div>");
    let figures = [figure("Projects", "5"), figure("Answered without an error", "100 %")];
    assert!(before.contains(&figures.join("\n")), "{before}");
    let newest = node.state.newest().unwrap();
    let started = node.state.started();
    let row = |name: &str, answers: &str, share: &str| {
        format!(
            "<tr><th scope=\"row\">{name}</th><td class=\"number\">{answers}</td><td class=\"number\">0</td>\
             <td class=\"number\">{share}</td></tr>\n"
        )
    };
    let rows = ["Projects", "Similar projects", "MCP", "Pages", "Pictures"].map(|name| row(name, "0", "–"));
    let expected = format!(
        "\n<table><caption class=\"visually-hidden\">What runs</caption><tbody>\n\
         <tr><th scope=\"row\">Version</th><td>Loggia {}</td></tr>\n\
         <tr><th scope=\"row\">Since</th><td><time datetime=\"{}\">{}</time> (less than a minute)</td></tr>\n\
         <tr><th scope=\"row\">Newest project</th><td><a href=\"/projects/{}\"><bdi>{}</bdi></a>, \
         <time datetime=\"2026-11-20T08:00:00Z\">20 November 2026, 08:00 UTC</time></td></tr>\n\
         <tr><th scope=\"row\">Catalog</th><td>made from 1,234 events, 2 behind</td></tr>\n\
         </tbody></table></section>\n\
         <section class=\"section\"><h2>Since it started</h2>\n\
         <p class=\"soft measure\">Answers in all: 1. A node counts from its start on, and keeps no figures of earlier days.</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Answers since it started\"><table><thead><tr>\
         <th scope=\"col\">Answers</th><th scope=\"col\" class=\"number\">Number</th>\
         <th scope=\"col\" class=\"number\">Server errors</th><th scope=\"col\" class=\"number\">Without an error</th>\
         </tr></thead><tbody>\n{}{}</tbody></table></div></section>\n",
        env!("CARGO_PKG_VERSION"),
        started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        started.strftime("%-d %B %Y, %H:%M UTC"),
        newest.slug,
        newest.name,
        row("Searches", "1", "100 %"),
        rows.concat(),
    );
    assert_eq!(shown, expected);
    let index = "<th scope=\"row\">catalog</th><td class=\"number\">1,234</td><td class=\"number\">2</td>";
    assert!(for_operators.contains(index), "{for_operators}");
}
