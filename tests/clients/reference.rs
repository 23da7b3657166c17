//! The examples of the API reference as programs: the code that a reader copies runs and prints what the page shows.

use kit::http::Http;

use crate::installed::Clients;
use crate::served::Served;

/// The topics with examples, and the operations of each with something that its answer contains.
const TOPICS: [(&str, &[(&str, &str)]); 7] = [
    ("search", &[("search", "house-"), ("suggest", "House ")]),
    ("projects", &[("project", "house-"), ("projects", "house-"), ("discover", "house-")]),
    ("taste", &[("taste", "house-"), ("terms", "material"), ("similar", "house-")]),
    ("changes", &[("changes", "next_cursor"), ("feed", "<feed"), ("json_feed", "jsonfeed.org")]),
    ("citations", &[("cite", "@misc{house-")]),
    ("pictures", &[("picture", "")]),
    ("usage", &[("usage", "resets_at")]),
];

/// Returns the code with this id, with a key in place of its placeholder.
fn code(page: &str, id: &str, key: &str) -> String {
    let rest = page.split(&format!("<code id=\"{id}\">")).nth(1).unwrap_or_else(|| panic!("no {id}: {page}"));
    let mut text = rest.split("</code>").next().unwrap().to_owned();
    for (escaped, plain) in [("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">"), ("&#38;", "&")]
    {
        text = text.replace(escaped, plain);
    }
    text.replace("YOUR_KEY", key)
}

#[tokio::test]
async fn the_examples_of_the_reference_run() {
    let Some(clients) = Clients::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let http = Http::new(&served.base);
    let folder = tempfile::tempdir().unwrap();
    for (topic, operations) in TOPICS {
        let answer = http.get(&format!("/docs/{topic}")).await;
        let page = String::from_utf8(answer.body.to_vec()).unwrap();
        for (operation, part) in operations {
            let file = |language: &str, extension: &str| {
                let path = folder.path().join(format!("{operation}.{extension}"));
                std::fs::write(&path, code(&page, &format!("{operation}-{language}"), &served.key)).unwrap();
                path.to_str().unwrap().to_owned()
            };
            let in_python = clients.python("openapi", &file("python", "py"), &[]).await.success();
            let in_javascript = clients.script(&file("javascript", "mjs"), &[]).await.success();
            assert!(in_python.stdout.contains(part), "{operation} in Python: {in_python}");
            assert!(in_javascript.stdout.contains(part), "{operation} in JavaScript: {in_javascript}");
        }
    }
}
