//! What pages say of links that are mailed, on a site that mails them and on one that does not.

use std::sync::atomic::Ordering;

use super::{Node, Reply};
use crate::{Limits, RateLimits};

/// Returns the pages that mention links, and those of a link that is none.
async fn pages(node: &Node) -> [Reply; 3] {
    [node.get("/pricing").await, node.get("/keys").await, node.get("/claim/nothing").await]
}

fn assert_say(pages: &[Reply; 3], said: [&[&str]; 3], unsaid: [&[&str]; 3]) {
    for ((page, said), unsaid) in pages.iter().zip(said).zip(unsaid) {
        for text in said {
            assert!(page.text().contains(text), "{text}: {}", page.text());
        }
        for text in unsaid {
            assert!(!page.text().contains(text), "{text}: {}", page.text());
        }
    }
}

#[tokio::test]
async fn a_link_is_promised_by_mail_only_where_mail_is_sent() {
    let node = Node::start_with_keys(Limits::default(), RateLimits::new(0, 0, 0)).await;
    let asked: [&[&str]; 3] = [
        &[
            "For the others, ask the operator for a link; this site sends no mail. The link shows the keys under that address",
            "<a href=\"/keys#link\">Ask the operator for a link</a>, and name the address you paid with.",
        ],
        &["This site sends no mail: ask the operator for a link."],
        &[
            "This link was used before, has expired or is incomplete; open the whole link, or ask the operator for another.",
            "How to get another",
        ],
    ];
    let mailed: [&[&str]; 3] = [
        &[
            "a link goes to that address: it shows the keys under it",
            "Have a link mailed</a> to the address you paid with.",
        ],
        &["We mail a link that works once, within 30 minutes", "Mail me a link"],
        &["open the whole link from the mail, or request another.", "Ask for another"],
    ];
    assert_say(&pages(&node).await, asked, mailed);
    node.state.access().keys().unwrap().mail.is_available.store(true, Ordering::Relaxed);
    assert_say(&pages(&node).await, mailed, asked);
}
