//! Kept pictures.

use schemas::event::{Event, PictureAttached};
use schemas::picture::{Form, Picture, PictureFormat, PictureId};
use serde_json::json;

use super::Node;
use super::addresses::brought;

const ID: PictureId = PictureId([0x5e; 32]);

fn keep(node: &Node, form: Form, bytes: &[u8]) {
    let file = node.folder.path().join("media").join(form.path(ID));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, bytes).unwrap();
}

#[tokio::test]
async fn a_picture_may_be_cached_permanently() {
    let node = Node::start().await;
    let bytes = [b'w'; 4096];
    keep(&node, Form::Webp(320), &bytes);
    let path = format!("/media/{ID}/320.webp");
    let reply = node.ask("GET", &path, "Accept-Encoding: gzip\r\n").await;
    assert_eq!((reply.status, reply.body.as_slice()), (200, &bytes[..]), "not compressed again");
    for (name, value) in [
        ("content-type", "image/webp"),
        ("cache-control", "public, max-age=31536000, immutable"),
        ("vary", "Origin"),
        ("access-control-allow-origin", "*"),
    ] {
        let values: Vec<_> =
            reply.headers.iter().filter(|(named, _)| named == name).map(|(_, value)| value).collect();
        assert_eq!(values, [value], "{name}");
    }
    assert!(reply.header("content-encoding").is_none());
    let tag = reply.header("etag").unwrap();
    let again = node.ask("GET", &path, &format!("If-None-Match: {tag}\r\n")).await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    keep(&node, Form::Jpeg(320), &bytes);
    let jpeg = node.get(&format!("/media/{ID}/320.jpg")).await;
    assert_eq!((jpeg.status, jpeg.header("content-type")), (200, Some("image/jpeg")));
}

#[tokio::test]
async fn nothing_else_of_the_folder_is_shown() {
    let node = Node::start().await;
    keep(&node, Form::Original, b"with the place where it was taken");
    keep(&node, Form::Webp(320), b"w");
    let missing = PictureId([0x5f; 32]);
    for path in [
        format!("/media/{ID}/original"),
        format!("/media/{ID}/640.webp"),
        format!("/media/{ID}/0320.webp"),
        format!("/media/{ID}/picture.json"),
        format!("/media/{missing}/320.webp"),
        "/media/5e/320.webp".into(),
        format!("/media/{ID}/..%2f..%2fsecret"),
        format!("/media/{ID}"),
    ] {
        let reply = node.get(&path).await;
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(reply.header("content-type"), Some("application/problem+json"), "{path}");
    }
}

#[tokio::test]
async fn an_erased_picture_is_gone() {
    let node = Node::start().await;
    keep(&node, Form::Webp(320), b"w");
    let (erased, kept) = (PictureId([0x61; 32]), format!("/media/{ID}/320.webp"));
    let journal = node.folder.path().join("media/pictures-erased.ndjson");
    let line = json!({"picture": erased, "erased_at": "2026-11-23T00:00:00Z"});
    std::fs::write(journal, format!("{line}\n")).unwrap();
    for file in ["320.webp", "640.jpg"] {
        let reply = node.get(&format!("/media/{erased}/{file}")).await;
        assert_eq!((reply.status, reply.header("content-type")), (410, Some("application/problem+json")));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        let problem = reply.json();
        assert_eq!(
            (&problem["type"], &problem["title"]),
            (&json!("https://catalog.example.org/problems/taken-down"), &json!("Taken down"))
        );
    }
    assert_eq!(node.get(&format!("/media/{erased}/original")).await.status, 404);
    assert_eq!(node.get(&format!("/media/{ID}/640.webp")).await.status, 404);
    assert_eq!(node.get(&kept).await.status, 200);
}

#[tokio::test]
async fn a_picture_that_a_record_brings_is_shown_as_the_copy_that_is_kept() {
    let id = PictureId([0x5e; 32]);
    let picture = Picture { id, format: PictureFormat::Jpeg, width: 1_000, height: 500, palette: Vec::new() };
    let source = "http://museum.example/1.jpg";
    let attached = Event::PictureAttached(PictureAttached { source: source.into(), picture });
    let node = Node::start_listing(&[brought(), ("2026-11-24T10:01:00Z", 6, attached)]).await;
    keep(&node, Form::Jpeg(640), b"jpeg");
    let record = node.get("/v1/project/vase").await.json();
    assert_eq!(record["thumbnail"], source, "what a record brings stays");
    let kept = format!("/media/{}/1000.webp", "5e".repeat(32));
    assert_eq!(record["images"][0]["url"], format!("https://catalog.example.org{kept}"));
    let in_lists = format!("src=\"/media/{}/640.webp\"", "5e".repeat(32));
    let (home, found) = (node.get("/").await, node.get("/?q=vase").await);
    assert!(home.text().contains(&in_lists) && found.text().contains(&in_lists), "{home:?}");
    let unknown = node.ask("GET", "/projects/vasee", "Accept: text/html\r\n").await;
    assert!(
        unknown.status == 404 && unknown.text().contains(&in_lists),
        "a project that is near: {unknown:?}"
    );
    assert!(node.get("/projects/vase").await.text().contains(&kept));
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fetch","arguments":{"id":"vase"}}}"#;
    let answer = node.post("", call).await.json();
    let image = json!({"type": "image", "mimeType": "image/jpeg", "data": "anBlZw=="});
    assert_eq!(answer["result"]["content"][1], image);
}
