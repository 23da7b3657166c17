use kit::samples::{in_every_format, scene};
use schemas::command::{Command, CommandReply};
use schemas::record::PictureSource;
use serde_json::json;

use super::*;
use crate::service::tests::WriteSide;

async fn send(side: &WriteSide, command: Command) {
    let reply = side.send(command).await;
    assert!(!matches!(reply, CommandReply::Failed(_)), "{reply:?}");
}

#[tokio::test]
async fn the_log_says_which_projects_are_listed_and_which_pictures_it_names() {
    let side = WriteSide::start().await;
    assert_eq!(listed_projects(&side.store).await.unwrap(), []);
    for slug in ["shown", "gone", "erased"] {
        let record = json!({"slug": slug, "name": slug, "category": "art"});
        send(&side, Command::Select { record: record.as_object().unwrap().clone() }).await;
    }
    let [(_, one), (_, other), ..] = in_every_format(&scene(90, 90));
    let mut kept = Vec::new();
    for (slug, bytes) in [("shown", one), ("erased", other)] {
        let id = side.pictures.store_bytes(bytes).await.unwrap().id;
        let (slug, picture) = (slug.parse().unwrap(), PictureSource::of("front.jpg"));
        send(&side, Command::Attach { slug, picture, kept: Some(id), as_named: false }).await;
        kept.push(id);
    }
    assert_eq!(named_pictures(&side.store).await.unwrap(), kept.iter().copied().collect());
    send(&side, Command::ErasePicture { picture: kept[1] }).await;
    send(&side, Command::Withdraw { slug: "gone".parse().unwrap(), reason: "sold".into() }).await;
    let listed = listed_projects(&side.store).await.unwrap();
    assert_eq!(listed.iter().map(|listing| listing.slug.as_str()).collect::<Vec<_>>(), ["erased", "shown"]);
    assert_eq!(named_pictures(&side.store).await.unwrap(), [kept[0]].into());
}
