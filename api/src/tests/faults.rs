//! What is answered where something is wrong, by whatever layer finds it.

use super::*;

/// Asserts the status and the problem without its type's site and its instance.
#[track_caller]
fn assert_problem(reply: &Reply, status: u16, expected: &str) {
    let problem = reply.problem().replace("https://catalog.example.org/problems/", "");
    let problem = problem.replace(r#","instance":"/requests/ID""#, "");
    assert_eq!((reply.status, problem.as_str()), (status, expected), "{reply:?}");
}

#[tokio::test]
async fn all_faults_of_parameters_are_reported_together() {
    let node = Node::start().await;
    let reply = node.get("/v1/search?q=%20&limit=51&category=music&cursor=x").await;
    assert_problem(
        &reply,
        400,
        concat!(
            r#"{"type":"invalid-parameters","title":"Invalid parameters","status":400,"#,
            r#""detail":"Several parameters cannot be used; the member errors says which and what is allowed.","#,
            r#""errors":[{"parameter":"q","detail":"It is empty.","allowed":"1 to 200 characters of any text"},"#,
            r#"{"parameter":"limit","detail":"It is not an integer from 1 to 50.","allowed":"an integer from 1 to 50"},"#,
            r#"{"parameter":"category","detail":"It is not one of the catalog's five.","#,
            r#""allowed":"architecture, interiors, design, photography, art"},"#,
            r#"{"parameter":"cursor","detail":"It is not a cursor of this search, or its list can no longer be continued. Start again from the first page, without a cursor.","#,
            r#""allowed":"next_cursor of the page before, with the same q, mode, category, filters and sort"}]}"#
        ),
    );
}

#[tokio::test]
async fn a_cursor_of_another_search_is_refused() {
    let node = Node::start().await;
    let page = node.get("/v1/search?q=street&limit=1").await.json();
    let cursor = page["next_cursor"].as_str().unwrap();
    let reply = node.get(&format!("/v1/search?q=house&limit=1&cursor={cursor}")).await;
    assert_problem(
        &reply,
        400,
        concat!(
            r#"{"type":"invalid-parameters","title":"Invalid parameters","status":400,"#,
            r#""detail":"A parameter cannot be used; the member errors says which and what is allowed.","#,
            r#""errors":[{"parameter":"cursor","detail":"It is not a cursor of this search, or its list can no longer be continued. Start again from the first page, without a cursor.","#,
            r#""allowed":"next_cursor of the page before, with the same q, mode, category, filters and sort"}]}"#
        ),
    );
}

#[tokio::test]
async fn two_keys_at_once_are_refused_and_one_is_passed_over() {
    let node = Node::start().await;
    let bearer = "Authorization: Bearer a\r\n";
    for path in ["/v1/search?q=a&key=b", "/v1/project/haus-am-see?%6Bey=b", "/v1/nothing?key"] {
        assert_problem(
            &node.ask("GET", path, bearer).await,
            400,
            concat!(
                r#"{"type":"ambiguous-key","title":"Two keys at once","status":400,"detail":"The header "#,
                r#"Authorization has a key and the parameter key has another. Send one of them, preferably the header."}"#
            ),
        );
    }
    assert_eq!(node.ask("GET", "/v1/search?q=a", bearer).await.status, 200);
    assert_eq!(node.get("/v1/search?q=a&key=b").await.status, 200);
    assert_eq!(node.ask("GET", "/v1/search?q=a&key=b", "Authorization: Basic YTpi\r\n").await.status, 200);
}

#[tokio::test]
async fn an_unknown_slug_brings_near_ones() {
    let node = Node::start().await;
    assert_problem(
        &node.get("/v1/project/haus-am-sea").await,
        404,
        concat!(
            r#"{"type":"unknown-slug","title":"Unknown slug","status":404,"detail":"No project has this slug. "#,
            r#"The member suggestions lists slugs that are near.","suggestions":["haus-am-see"]}"#
        ),
    );
    for slug in ["%ff", "%00", "..%2f", &"x".repeat(121)] {
        assert_problem(
            &node.get(&format!("/v1/project/{slug}")).await,
            404,
            concat!(
                r#"{"type":"unknown-slug","title":"Unknown slug","status":404,"detail":"No project has this slug. "#,
                r#"Find the project with /v1/search?q=… and take the slug from there.","suggestions":[]}"#
            ),
        );
    }
}

#[tokio::test]
async fn a_withdrawn_project_can_still_be_cited() {
    let node = Node::start().await;
    assert_problem(
        &node.get("/v1/project/gone-house").await,
        410,
        concat!(
            r#"{"type":"withdrawn","title":"Withdrawn","status":410,"detail":"This project left the catalog; what "#,
            r#"was published of it can still be cited.","reason":"The owners \"asked\" for it.","#,
            r#""citation_url":"https://catalog.example.org/cite/gone-house/1","#,
            r#""revision_url":"https://catalog.example.org/cite/gone-house/1"}"#
        ),
    );
}

#[tokio::test]
async fn unknown_paths_and_methods_are_problems() {
    let node = Node::start().await;
    for path in
        ["/v1", "/v1/search/", "/v1/project/", "/v1/project/a/b", "/problems/nothing", "/problems/%ff", "//"]
    {
        assert_problem(
            &node.get(path).await,
            404,
            concat!(
                r#"{"type":"not-found","title":"Nothing is here","status":404,"#,
                r#""detail":"Nothing is at this path. /openapi.json lists the paths there are."}"#
            ),
        );
    }
    for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"] {
        for path in ["/v1/search?q=a", "/v1/project/haus-am-see", "/healthz", "/problems/internal"] {
            let reply = node.ask(method, path, "").await;
            assert_eq!(reply.header("allow"), Some("GET, HEAD, OPTIONS"), "{method} {path}");
            assert_problem(
                &reply,
                405,
                concat!(
                    r#"{"type":"method-not-allowed","title":"Method not allowed","status":405,"#,
                    r#""detail":"This service is for reading only: send GET or HEAD."}"#
                ),
            );
        }
    }
}

#[tokio::test]
async fn missing_models_are_reported() {
    let node = Node::start_empty().await;
    for (path, what) in [
        ("/v1/search?q=a", "The search index"),
        ("/v1/similar/haus-am-see", "The search index"),
        ("/v1/project/haus-am-see", "The catalog"),
        ("/v1/projects?slugs=a", "The catalog"),
        ("/v1/changes", "The catalog"),
        ("/cite/a/1", "The catalog"),
        ("/sitemap.xml", "The catalog"),
        ("/sitemap-1.xml", "The catalog"),
        ("/v1/projects", "The archive"),
        ("/v1/taste?mood=calm", "The archive"),
        ("/v1/discover", "The archive"),
        ("/v1/terms", "The archive"),
        ("/v1/suggest?q=a", "The archive"),
        ("/feed.atom", "The archive"),
        ("/feed.json", "The archive"),
    ] {
        let reply = node.get(path).await;
        assert_eq!(reply.header("retry-after"), Some("2"), "{path}");
        let expected = format!(
            r#"{{"type":"unavailable","title":"Unavailable","status":503,"detail":"{what} is still being filled."}}"#
        );
        assert_problem(&reply, 503, &expected);
    }
}

#[tokio::test]
async fn a_panic_is_a_problem_that_tells_nothing() {
    let node = Node::start().await;
    let mut connection = node.connect().await;
    assert_problem(
        &connection.ask("GET", "/panic", "").await,
        500,
        concat!(
            r#"{"type":"internal","title":"Internal error","status":500,"detail":"Something broke while answering. "#,
            r#"If it happens again, tell the operator the member instance."}"#
        ),
    );
    assert_eq!(connection.ask("GET", "/healthz", "").await.status, 200, "the connection stays open");
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_given_up() {
    let limits = crate::Limits { request: std::time::Duration::from_millis(100), ..Default::default() };
    let node = Node::start_with(limits).await;
    let mut connection = node.connect().await;
    let reply = connection.ask("GET", "/slow", "").await;
    assert_eq!(reply.header("retry-after"), Some("5"));
    assert_problem(
        &reply,
        503,
        concat!(
            r#"{"type":"timeout","title":"Took too long","status":503,"#,
            r#""detail":"The answer was not ready in time. Try again in a few seconds."}"#
        ),
    );
    assert_eq!(connection.ask("GET", "/healthz", "").await.status, 200, "the connection stays open");
}
