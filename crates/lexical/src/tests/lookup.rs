//! Look-ups by slug and by ordinal.

use super::*;

fn summary(view: &View, ordinal: u64) -> Option<String> {
    view.summary_of(ordinal).map(|summary| String::from_utf8(summary.to_vec()).unwrap())
}

#[test]
fn every_project_is_found_by_slug_and_ordinal_after_any_commits() {
    for seed in 0..8 {
        let mut random = Random(seed);
        let mut fixture = Fixture::empty();
        let mut projects = random_projects(60, seed);
        for (round, part) in projects.chunks(13).enumerate() {
            fixture.add(part);
            fixture.commit(&round.to_string());
        }
        for _ in 0..10 {
            let index = random.below(60);
            projects[index].name.push_str(" again");
            projects[index].slug.push('x');
            fixture.add(&projects[index..=index]);
            fixture.commit(&format!("{index} {}", projects[index].slug));
        }
        let view = fixture.reader.view();
        for project in &projects {
            assert_eq!(view.ordinal_of(&project.slug).unwrap(), Some(project.ordinal), "seed {seed}");
            assert_eq!(summary(&view, project.ordinal), Some(project.summary()), "seed {seed}");
        }
        assert_eq!(view.ordinal_of("slug-60").unwrap(), None);
        assert_eq!(summary(&view, 60), None, "seed {seed}");
    }
}

#[test]
fn an_unlisted_project_is_not_found_and_an_earlier_view_does_not_change() {
    let mut fixture = Fixture::named(&["Villa", "Tower"]);
    let before = fixture.reader.view();
    let withdrawn = Project::named(0, "Villa");
    let document = SearchDocument {
        project: &withdrawn.id(),
        ordinal: 0,
        slug: &withdrawn.slug,
        name: &withdrawn.name,
        studio: None,
        city: None,
        category: &withdrawn.category,
        intro: None,
        published: None,
        summary: b"{",
        state: b"",
        listed: false,
    };
    fixture.writer.upsert(&document).unwrap();
    fixture.commit("withdrawn");
    let after = fixture.reader.view();
    assert_eq!((after.ordinal_of(&withdrawn.slug).unwrap(), summary(&after, 0)), (None, None));
    assert_eq!(before.ordinal_of(&withdrawn.slug).unwrap(), Some(0));
    assert_eq!(summary(&before, 0), Some(withdrawn.summary()));
}
