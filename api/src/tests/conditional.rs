//! What clients may say of what they have, and of the form they want: tags, HEAD, encodings.

use std::io::Read;

use super::*;

const SEARCH: &str = "/v1/search?q=street";

#[tokio::test]
async fn an_answer_with_a_known_tag_is_not_sent_again() {
    let node = Node::start().await;
    let mut connection = node.connect().await;
    for path in [SEARCH, "/v1/project/haus-am-see", "/openapi.json", "/problems/internal"] {
        let full = connection.ask("GET", path, "").await;
        let tag = full.header("etag").unwrap().to_owned();
        assert!(tag.starts_with("W/\"") && tag.len() == 20, "{tag}");
        for known in [&tag, "*", &format!("\"x\", {tag}"), &format!("\"x\"\r\nIf-None-Match: {tag}")] {
            let reply = connection.ask("GET", path, &format!("If-None-Match: {known}\r\n")).await;
            assert_eq!(reply.status, 304, "{path} {known}");
            for name in ["etag", "cache-control", "vary"] {
                assert_eq!(reply.header(name), full.header(name), "{name}");
            }
            assert_eq!((reply.header("content-type"), reply.header("content-length")), (None, None));
        }
        let reply = connection.ask("GET", path, "If-None-Match: \"x\"\r\n").await;
        assert_eq!((reply.status, reply.header("etag")), (200, Some(&*tag)));
    }
    let one = node.get("/v1/search?q=street&limit=1").await;
    assert_ne!(one.header("etag"), node.get(SEARCH).await.header("etag"));
    for path in ["/v1/project/nothing", "/v1/search", "/v1/project/old-mill"] {
        let reply = connection.ask("GET", path, "If-None-Match: *\r\n").await;
        assert!(reply.status >= 308 && reply.header("etag").is_none(), "only a 200 has a tag: {reply:?}");
    }
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let node = Node::start().await;
    let mut connection = node.connect().await;
    for (path, extra) in [
        (SEARCH, ""),
        (SEARCH, "Accept-Encoding: gzip\r\n"),
        (SEARCH, "If-None-Match: *\r\n"),
        ("/v1/project/haus-am-see", ""),
        ("/v1/project/old-mill", ""),
        ("/v1/project/nothing", ""),
        ("/v1/search", ""),
        ("/healthz", ""),
        ("/nothing", ""),
    ] {
        let get = connection.ask("GET", path, extra).await;
        let head = connection.ask("HEAD", path, extra).await;
        assert_eq!(head.status, get.status, "{path} {extra}");
        let comparable = |reply: &Reply| {
            let mut headers = reply.headers.clone();
            headers.retain(|(name, _)| !["x-request-id", "date", "ratelimit"].contains(&name.as_str()));
            headers.sort_unstable();
            headers
        };
        assert_eq!(comparable(&head), comparable(&get), "{path} {extra}");
    }
}

#[tokio::test]
async fn a_body_is_encoded_if_the_client_accepts_it() {
    let node = Node::start().await;
    let mut connection = node.connect().await;
    let plain = connection.ask("GET", SEARCH, "").await;
    assert_eq!(plain.header("content-encoding"), None);
    for name in ["gzip", "br", "zstd"] {
        let reply = connection.ask("GET", SEARCH, &format!("Accept-Encoding: {name}\r\n")).await;
        assert_eq!((reply.status, reply.header("content-encoding")), (200, Some(name)));
        assert_eq!(reply.header("etag"), plain.header("etag"), "a weak tag stays");
        assert!(reply.body.len() < plain.body.len());
        let mut decoded = Vec::new();
        match name {
            "gzip" => drop(flate2::read::GzDecoder::new(&reply.body[..]).read_to_end(&mut decoded).unwrap()),
            "br" => brotli::BrotliDecompress(&mut &reply.body[..], &mut decoded).unwrap(),
            _ => decoded = zstd::bulk::decompress(&reply.body, plain.body.len()).unwrap(),
        }
        assert_eq!(decoded, plain.body, "{name}");
    }
    for (path, asked) in
        [(SEARCH, "identity;q=0"), (SEARCH, "*;q=0"), (SEARCH, "deflate"), ("/healthz", "gzip")]
    {
        let reply = connection.ask("GET", path, &format!("Accept-Encoding: {asked}\r\n")).await;
        assert_eq!((reply.status, reply.header("content-encoding")), (200, None), "{path} {asked}");
    }
}
