//! A node that requires no key: its network is all that protects it, and no page of the web may reach through a
//! browser in that network.

use super::*;

const SITE: &str = "Host: catalog.example.org\r\n";

async fn ask(node: &Node, method: &str, path: &str, headers: &str) -> Reply {
    let mut connection = node.connect().await;
    connection.send(format!("{method} {path} HTTP/1.1\r\n{headers}\r\n")).await;
    connection.reply(method).await
}

#[tokio::test]
async fn pages_that_are_not_let_in_may_not_read_the_answers() {
    let node = Node::start_for("https://agent.example.org".parse().unwrap()).await;
    for (origin, allowed) in [
        ("https://evil.example", None),
        ("null", None),
        ("https://agent.example.org", Some("https://agent.example.org")),
        ("http://localhost:3000", Some("http://localhost:3000")),
        ("https://catalog.example.org", Some("https://catalog.example.org")),
    ] {
        for (method, path, status) in
            [("GET", "/v1/search?q=street", 200), ("OPTIONS", "/v1/search", 204), ("GET", "/v1/nothing", 404)]
        {
            let reply = ask(&node, method, path, &format!("{SITE}Origin: {origin}\r\n")).await;
            assert_eq!(reply.status, status, "{origin} {path}");
            assert_eq!(reply.header("access-control-allow-origin"), allowed, "{origin} {method} {path}");
            let vary: Vec<_> = reply.headers.iter().filter(|(name, _)| name == "vary").collect();
            assert!(vary.iter().any(|(_, value)| value == "Origin"), "{vary:?}");
        }
    }
    let reply = ask(&node, "GET", "/v1/search?q=street", SITE).await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, None));
    let reply = ask(&node, "GET", "/v1/search?q=street", "Broken\r\n").await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (400, None));
}

#[tokio::test]
async fn a_name_that_is_not_the_nodes_is_refused_on_every_path() {
    let node = Node::start_for("own".parse().unwrap()).await;
    for path in ["/", "/v1/search?q=street", "/projects/haus-am-see", "/openapi.json", "/mcp"] {
        let reply = ask(&node, "GET", path, "Host: rebound.evil.example\r\n").await;
        assert_eq!(reply.status, 403, "{path}");
        assert!(reply.problem().contains("does not accept the name in the header Host"), "{reply:?}");
        let reply = ask(&node, "GET", path, "Host: 10.0.0.7:8080\r\n").await;
        assert_ne!(reply.status, 403, "{path}");
    }
    // Supervisors and balancers ask by any name.
    for path in ["/healthz", "/readyz"] {
        assert_eq!(ask(&node, "GET", path, "Host: rebound.evil.example\r\n").await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn a_page_of_a_foreign_origin_is_rejected_by_the_preflight_of_mcp() {
    let node = Node::start_for("own".parse().unwrap()).await;
    let asked = |origin: &str| format!("{SITE}Origin: {origin}\r\nAccess-Control-Request-Method: POST\r\n");
    let reply = ask(&node, "OPTIONS", "/mcp", &asked("https://evil.example")).await;
    assert_eq!((reply.status, reply.header("access-control-allow-methods")), (403, None));
    for method in ["OPTIONS", "POST"] {
        let reply = ask(&node, method, "/mcp", &asked("https://evil.example")).await;
        assert!(reply.problem().contains("Pages of this Origin may not call the MCP endpoint."), "{reply:?}");
    }
    let reply = ask(&node, "OPTIONS", "/mcp", &asked("http://localhost:6274")).await;
    assert_eq!(reply.status, 204);
    assert_eq!(reply.header("access-control-allow-origin"), Some("http://localhost:6274"));
}
