//! The page of the state: what runs, since when, and what it answered, also on the days before.

use schemas::control::ProjectionStatus;
use schemas::ids::Position;
use serde_json::json;

use super::*;

/// Where the section of the days begins.
const LAST_DAYS: &str = "<section class=\"section\"><h2>The last 90 days</h2>\n";

#[tokio::test]
async fn the_state_tells_people_what_runs_and_what_it_answered() {
    let catalog = ProjectionStatus { position: Position(1_234), lag: 2, ..ProjectionStatus::new("catalog") };
    let node = Node::start_behind(vec![catalog]).await;
    assert_eq!(node.get("/v1/search?q=street").await.status, 200);
    let reply = node.get("/status").await;
    let page = reply.text();
    let (before, after) = page.split_once("<section class=\"section\"><h2>What runs</h2>").unwrap();
    let (shown, after) = after.split_once(LAST_DAYS).unwrap();
    let (_, for_operators) = after.split_once("<details class=\"section\">").unwrap();
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
         <p class=\"soft measure\">Answers in all: 1. A node counts these anew from each start on.</p>\n\
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

#[tokio::test]
async fn the_last_days_are_shown_from_the_record_the_newest_first() {
    let day =
        |up: u64, answers: u64, errors: u64| json!({"seconds_up": up, "answers": answers, "errors": errors});
    let days = json!({
        "2026-11-03": day(64_800, 0, 0),
        "2026-11-04": day(86_400, 20_000, 0),
        "2026-11-10": day(86_280, 2, 2),
        "2026-11-27": day(86_400, 100_000, 10),
        // The seconds of this test count, too.
        "2026-11-28": day(39_610, 328, 0),
    });
    let record = json!({"began": "2026-11-03T06:00:00Z", "days": days});
    let node = Node::start_with_days("2026-11-28T12:00:00Z", &record).await;
    assert_eq!(node.get("/v1/search?q=street").await.status, 200);
    let reply = node.get("/status").await;
    let (_, after) = reply.text().split_once(LAST_DAYS).unwrap();
    let (shown, _) = after.split_once("<details class=\"section\">").unwrap();
    let time = |day: u8| format!("<time datetime=\"2026-11-{day:02}\">{day} November 2026</time>");
    let row = |name: &str, figures: [&str; 4]| {
        let cells = figures.map(|figure| format!("<td class=\"number\">{figure}</td>"));
        format!("<tr><th scope=\"row\">{name}</th>{}</tr>\n", cells.concat())
    };
    let none = |first: u8, last: u8| {
        let (first, last) = (time(first), time(last));
        format!("<tr><th scope=\"row\">{first} to {last}</th><td colspan=\"4\">no record</td></tr>\n")
    };
    let table = |label: &str, rows: &[String]| {
        format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\"><table><thead><tr>\
             <th scope=\"col\">Day</th><th scope=\"col\" class=\"number\">Up</th>\
             <th scope=\"col\" class=\"number\">Answers</th><th scope=\"col\" class=\"number\">Server errors</th>\
             <th scope=\"col\" class=\"number\">Without an error</th></tr></thead><tbody>\n{}</tbody></table></div>\n",
            rows.concat()
        )
    };
    let newest = [
        row(&format!("{}, today so far", time(28)), ["11 h 0 min", "329", "0", "100 %"]),
        row(&time(27), ["100 %", "100,000", "10", "99.99 %"]),
        none(11, 26),
    ];
    let earlier = [
        row(&time(10), ["23 h 58 min", "2", "2", "0.00 %"]),
        none(5, 9),
        row(&time(4), ["100 %", "20,000", "0", "100 %"]),
        row(&time(3), ["100 %", "0", "0", "–"]),
    ];
    let expected = format!(
        "<p class=\"soft measure\">Up 98.9 % of the time on the days that this node has on record, since {}; \
         12 server errors in 120,331 answers. Days begin at midnight UTC.</p>\n\
         {}<details><summary>Earlier days</summary>\n{}</details>\n</section>\n",
        time(3),
        table("The last days", &newest),
        table("Earlier days", &earlier),
    );
    assert_eq!(shown, expected);
}
