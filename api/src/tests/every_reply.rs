//! Whatever happens, a reply says who it is, what is left, and how it may be used.

use super::*;

const EXPOSED: &str = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Policy, RateLimit, ETag, \
                       Link, Deprecation, Sunset, Retry-After, X-Request-Id, X-Call-Id";

fn has_all(case: &str, reply: &Reply, status: u16, caching: &str) {
    assert_eq!(reply.status, status, "{case}: {reply:?}");
    for (name, value) in [
        ("x-ratelimit-limit", "2147483647"),
        ("x-ratelimit-remaining", "2147483647"),
        ("access-control-allow-origin", "*"),
        ("access-control-expose-headers", EXPOSED),
        ("vary", "Authorization, Accept-Encoding"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", caching),
    ] {
        assert_eq!(reply.header(name), Some(value), "{case}: {name}");
        assert_eq!(reply.headers.iter().filter(|(own, _)| own == name).count(), 1, "{case}: {name} once");
    }
    let number = |text: &str| text.parse::<i64>().unwrap();
    let reset = number(reply.header("x-ratelimit-reset").unwrap());
    let now = jiff::Timestamp::now().as_second();
    assert!((now..=now + 31 * 86_400).contains(&reset) && reset % 86_400 == 0, "{case}: {reset}");
    let policy = reply.header("ratelimit-policy").unwrap();
    let window = number(policy.strip_prefix("\"month\";q=2147483647;w=").unwrap());
    assert!([28, 29, 30, 31].map(|days| days * 86_400).contains(&window), "{case}: {policy}");
    let left = number(reply.header("ratelimit").unwrap().strip_prefix("\"month\";r=2147483647;t=").unwrap());
    assert!((reset - now - left).abs() <= 2, "{case}: {left}");
    let id = reply.header("x-request-id").unwrap();
    assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{case}: {id}");
    assert!(reply.header("date").is_some(), "{case}");
    if status >= 400 {
        reply.problem();
    }
}

#[tokio::test]
async fn every_reply_of_every_layer_carries_the_common_headers() {
    let limits = crate::Limits { request: std::time::Duration::from_secs(5), ..Default::default() };
    let node = Node::start_with(limits).await;
    node.readiness.send_replace(crate::Readiness { ready: false, answers: true, reason: "Not yet.".into() });
    let long = format!("/v1/search?q={}", "a".repeat(9_000));
    let many = "X: y\r\n".repeat(101);
    let large = format!("X: {}\r\n", "y".repeat(17_000));
    let kept = "private, max-age=60";
    let not = "no-store";
    for (method, path, headers, status, caching) in [
        ("GET", "/v1/search?q=street", "", 200, kept),
        ("HEAD", "/v1/search?q=street", "", 200, kept),
        ("GET", "/v1/search?q=street", "If-None-Match: *\r\n", 304, kept),
        ("GET", "/v1/search?q=street", "Accept-Encoding: gzip\r\n", 200, kept),
        ("GET", "/v1/search", "", 400, not),
        ("GET", "/v1/search?q=a&key=b", "Authorization: Bearer c\r\n", 400, not),
        ("GET", "/v1/project/haus-am-see", "", 200, kept),
        ("GET", "/v1/project/old-mill", "", 308, kept),
        ("GET", "/v1/project/nothing", "", 404, not),
        ("GET", "/v1/project/gone-house", "", 410, not),
        ("GET", "/healthz", "", 200, not),
        ("GET", "/readyz", "", 503, not),
        ("GET", "/openapi.json", "", 200, kept),
        ("GET", "/nothing", "", 404, not),
        ("POST", "/v1/search", "", 405, not),
        ("OPTIONS", "/v1/search", "", 204, not),
        ("OPTIONS", "/nothing", "", 204, not),
        ("OPTIONS", "*", "", 204, not),
        ("GET", "/v1/search?q=a", "Content-Length: 70000\r\n", 413, not),
        ("GET", "/v1/search?q=a", "Content-Length: 10\r\n", 408, not),
        ("GET", &long, "", 414, not),
        ("GET", "/v1/search?q=a", &many, 431, not),
        ("GET", "/v1/search?q=a", &large, 431, not),
        ("GET", "/panic", "", 500, not),
        ("GET", "/slow", "", 503, not),
        ("G(T", "/", "", 400, not),
        ("GET", "/v1/search?q=a", "Content-Length: x\r\n", 400, not),
        ("GET", "/v1/search?q=a", "Transfer-Encoding: xchunked\r\n", 400, not),
        ("GET", "/v1/search?q=a", "Broken\r\n", 400, not),
    ] {
        let reply = node.ask(method, path, headers).await;
        let case = format!("{method} {path} {headers}");
        has_all(&case[..case.len().min(80)], &reply, status, caching);
    }
}

#[tokio::test]
async fn a_preflight_allows_a_key() {
    let node = Node::start().await;
    let asked = "Origin: https://elsewhere.example\r\nAccess-Control-Request-Method: GET\r\n\
                 Access-Control-Request-Headers: authorization\r\n";
    let headers = "Authorization, If-None-Match, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name, *";
    for (path, methods) in [("/v1/search?q=a", "GET, HEAD, OPTIONS"), ("/mcp", "POST, OPTIONS")] {
        let reply = node.ask("OPTIONS", path, asked).await;
        assert_eq!((reply.status, reply.header("content-length")), (204, None));
        for (name, value) in [
            ("allow", methods),
            ("access-control-allow-origin", "*"),
            ("access-control-allow-methods", methods),
            ("access-control-allow-headers", headers),
            ("access-control-max-age", "86400"),
        ] {
            assert_eq!(reply.header(name), Some(value), "{path} {name}");
        }
    }
}
