use schemas::event::{PictureAttached, PictureErased, ProjectRevised, ProjectSelected, ProjectWithdrawn};
use schemas::picture::{Picture, PictureFormat};

use super::*;

fn attached(source: &str, byte: u8) -> Event {
    let id = PictureId([byte; 32]);
    let picture = Picture { id, format: PictureFormat::Png, width: 1, height: 1, palette: Vec::new() };
    Event::PictureAttached(PictureAttached { source: source.into(), picture })
}

#[test]
fn pictures_of_former_revisions_and_of_a_withdrawn_project_are_listed() {
    let naming = |sources: &str| {
        let json = format!(r#"{{"name":"A","category":"art","pictures":[{sources}]}}"#);
        serde_json::from_str(&json).unwrap()
    };
    let (a, b) = (r#"{"source":"a.jpg"}"#, r#"{"source":"b.jpg"}"#);
    let selected =
        ProjectSelected { slug: "a".parse().unwrap(), record: naming(&format!("{a},{b}")), id: None };
    let events = [
        Event::ProjectSelected(selected),
        attached("a.jpg", 1),
        attached("a.jpg", 2),
        attached("a.jpg", 3),
        attached("b.jpg", 4),
        Event::ProjectRevised(ProjectRevised { record: naming(a) }),
        Event::PictureErased(PictureErased { picture: PictureId([2; 32]) }),
        Event::ProjectWithdrawn(ProjectWithdrawn { reason: "sold".into() }),
    ];
    let rows = all(&events);
    let shown: Vec<_> =
        rows.iter().map(|row| (row.state, row.source.as_str(), row.picture.unwrap().0[0])).collect();
    let wanted =
        [("kept", "a.jpg", 3), ("former", "a.jpg", 1), ("erased", "a.jpg", 2), ("former", "b.jpg", 4)];
    assert_eq!(shown, wanted);
    assert!(all(&[]).is_empty());
}
