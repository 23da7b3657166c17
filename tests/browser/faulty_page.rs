//! The browser tests' own test: a page with every fault that they detect.

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use serde_json::json;
use tokio::net::TcpListener;

use crate::installed::Browser;

/// It allows scripts and pictures, and no styles.
const POLICY: &str = "default-src 'self'; script-src 'unsafe-inline'; img-src *";

/// The report of each fault.
const EXPECTED_FAULTS: [&str; 16] = [
    "it is answered with 200 and not 410",
    "a request to http://localhost:9/elsewhere.png",
    "gone.css is answered with 404",
    "a script failed: broken",
    "the console says: something is wrong",
    "script was executed: hello",
    "against the policy: style-src",
    "a picture is not shown",
    "the layout shifts by",
    "its title is Untitled",
    "its language is ",
    r#"its headings are ["One","Another"]"#,
    "its navigation has 2 lines at",
    "html element-required-attributes",
    "axe image-alt",
    "axe color-contrast",
];

#[tokio::test]
async fn every_fault_of_a_bad_page_is_found() {
    let Some(browser) = Browser::find() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let page = async || ([("content-security-policy", POLICY)], Html(include_str!("faulty_page.html")));
    let server = tokio::spawn(axum::serve(listener, Router::new().route("/", get(page))).into_future());
    let pages = json!([{"name": "bad", "path": "/", "status": 410}]);
    let report = browser.report("pages.mjs", &json!({"base": base, "pages": pages})).await;
    server.abort();
    let too_wide: [(&str, &[&str]); 2] = [
        ("light", &["px too wide at 768"]),
        ("dark", &["px too wide at 360", "px too wide at 320 with spaced text"]),
    ];
    for (scheme, wide) in too_wide {
        let faults = report["bad"].as_array().unwrap().iter().filter_map(|fault| fault.as_str());
        let faults: Vec<&str> = faults.filter_map(|fault| fault.strip_prefix(scheme)).collect();
        let missing: Vec<&str> = EXPECTED_FAULTS
            .into_iter()
            .chain(wide.iter().copied())
            .filter(|expected| !faults.iter().any(|fault| fault.contains(expected)))
            .collect();
        assert_eq!(missing, [""; 0], "{faults:#?}");
    }
}
