//! The page with the usage of a key.

use jiff::Timestamp;
use schemas::clock::Clock;
use schemas::month::Month;
use schemas::usage::Surface;

use super::keyed::KEY;
use super::{Node, Reply};

/// Sends the form of the page.
async fn usage_of(node: &Node, key: &str) -> Reply {
    let body = format!("key={key}");
    let head = format!(
        "POST /usage HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = node.connect().await;
    connection.send(head).await;
    connection.reply("POST").await
}

/// The rows of a table, each as the text of its cells.
fn rows<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, table) = page.split_once(heading).unwrap_or_else(|| panic!("{heading}: {page}"));
    let body = table.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
    let text = |cell: &'a str| cell.rsplit_once('>').map_or(cell, |(_, text)| text);
    let cells = |row: &'a str| {
        let ends = row.split("</td>").flat_map(|part| part.split("</time></th>")).map(str::trim);
        ends.filter(|part| part.starts_with('<') && !part.starts_with("</tr>")).map(text).collect()
    };
    body.split("<tr>").skip(1).map(cells).collect()
}

#[tokio::test]
async fn the_months_before_are_listed_with_their_calls_the_newest_first() {
    let now = Clock::system().now();
    let month = Month::of(now);
    let (last, earlier) = (month.previous(), month.previous().previous());
    let counted: [(Timestamp, Surface, u8); 5] = [
        (earlier.start(), Surface::Rest, 4),
        (last.start(), Surface::Rest, 2),
        (last.start(), Surface::Mcp, 3),
        (now, Surface::Rest, 5),
        (now, Surface::Mcp, 1),
    ];
    let node = Node::start_counted_at(&counted).await;
    let reply = usage_of(&node, KEY).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let page = reply.text();
    let named = |month: Month| month.start().strftime("%B %Y").to_string();
    let (first, second) = (named(last), named(earlier));
    assert_eq!(
        rows(page, "<h2 class=\"section\" id=\"before\">Months before</h2>"),
        [vec![first.as_str(), "2", "3", "5"], vec![second.as_str(), "4", "0", "4"]]
    );
    let today = now.strftime("%-d %B").to_string();
    assert_eq!(rows(page, "Counted calls per day</caption>"), [[today.as_str(), "5", "1"]]);
    for text in [
        format!("in <time datetime=\"{month}\">{}</time>.</p>", named(month)),
        format!("<th scope=\"row\"><time datetime=\"{last}\">{first}</time></th>"),
        format!("Resets on <time datetime=\"{}\">", month.end()),
        "<dd id=\"used\">6</dd>".to_owned(),
        "<a href=\"/pricing\">More calls</a></p>\n<h2".to_owned(),
    ] {
        assert!(page.contains(&text), "{text}: {page}");
    }
    assert!(!page.contains(KEY) && !page.contains("Upgrade"), "{page}");
}

#[tokio::test]
async fn a_key_without_calls_before_has_no_list_of_months() {
    let node = Node::start_counted_at(&[(Clock::system().now(), Surface::Rest, 1)]).await;
    let page = usage_of(&node, KEY).await;
    assert!(page.text().contains("<dd id=\"used\">1</dd>"), "{}", page.text());
    assert!(!page.text().contains("Months before"), "{}", page.text());
    let wrong = usage_of(&node, "log_live_nothing").await;
    assert!(wrong.text().contains("This key cannot be used."), "{}", wrong.text());
}
