//! Projects by slug and by ordinal.

use super::*;

fn summary(view: &View, ordinal: u64) -> Option<String> {
    view.summary_of(ordinal).map(|summary| String::from_utf8(summary.to_vec()).unwrap())
}

#[test]
fn every_project_is_found_by_slug_and_ordinal_however_commits_fell() {
    for seed in 0..8 {
        let mut dice = Dice(seed);
        let mut fixture = Fixture::empty();
        let mut projects = random_projects(60, seed);
        for (round, part) in projects.chunks(13).enumerate() {
            fixture.add(part);
            fixture.commit(&round.to_string());
        }
        for _ in 0..10 {
            let place = dice.roll(60);
            projects[place].name.push_str(" again");
            projects[place].slug.push('x');
            fixture.add(&projects[place..=place]);
            fixture.commit(&format!("{place} {}", projects[place].slug));
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
fn what_is_not_listed_is_not_found_and_a_view_stays_as_it_was() {
    let mut fixture = Fixture::named(&["Villa", "Tower"]);
    let before = fixture.reader.view();
    let gone = Project::named(0, "Villa");
    let document = SearchDocument {
        project: &gone.id(),
        ordinal: 0,
        slug: &gone.slug,
        name: &gone.name,
        studio: None,
        city: None,
        category: &gone.category,
        intro: None,
        published: None,
        summary: b"{",
        state: b"",
        listed: false,
    };
    fixture.writer.upsert(&document).unwrap();
    fixture.commit("withdrawn");
    let after = fixture.reader.view();
    assert_eq!((after.ordinal_of(&gone.slug).unwrap(), summary(&after, 0)), (None, None));
    assert_eq!(before.ordinal_of(&gone.slug).unwrap(), Some(0));
    assert_eq!(summary(&before, 0), Some(gone.summary()));
}
