use schemas::event::{Event, PictureAttached, PictureErased, ProjectSelected};
use schemas::picture::PictureFormat;
use write::project::Project;

use super::*;

#[test]
fn the_state_of_each_picture_is_shown_without_a_password() {
    let record = r#"{"name":"A","category":"art","pictures":[{"source":"https://me:secret@example.org/a.jpg"},{"source":"b.jpg"}]}"#;
    let selected = ProjectSelected {
        slug: "a".parse().unwrap(),
        record: serde_json::from_str(record).unwrap(),
        id: None,
    };
    let id = PictureId([7; 32]);
    let picture = Picture { id, format: PictureFormat::Png, width: 1, height: 1, palette: Vec::new() };
    let project = Project::replay(&[
        Event::ProjectSelected(selected),
        Event::PictureAttached(PictureAttached { source: "b.jpg".into(), picture }),
        Event::PictureErased(PictureErased { picture: id }),
    ]);
    let rows: Vec<Row> = rows(project.listing().unwrap()).collect();
    let shown: Vec<_> = rows.iter().map(|row| (row.state, row.source.as_str(), row.picture)).collect();
    assert_eq!(shown, [("missing", "https://example.org/a.jpg", None), ("erased", "b.jpg", Some(id))]);
}
