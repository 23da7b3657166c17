//! Lists while another encoder of the service replaces the vectors of all projects.

use super::*;

const FORMER: &str = "loggia-1";
const NEW: &str = "loggia-1+efficientnet-lite0";

/// The vectors of a project by an encoder, seven different ones. One project has no picture.
fn encoded(number: u64, model: &str) -> NumberedEvent {
    let place = (number % 7) as f32 / 10.0;
    let numbers = if model == FORMER { [1.0, place, 0.0] } else { [place * place, 1.0, -place] };
    let visual = if number == 3 { None } else { Some(&numbers[..]) };
    recorded(number, model, visual, Some(&[numbers[0], 2.0 * numbers[1]]))
}

/// A project of a list, its score, and the encoders of the list.
type Listed = (u64, String, [Option<String>; 2]);

/// The list of each project that readers see.
fn lists(reader: &NeighboursReader, projects: u64) -> Vec<Vec<Listed>> {
    let list = |ordinal| {
        let names = reader.encoders(ordinal).map(|name| name.map(|name| name.to_string()));
        let list = reader.of(ordinal).unwrap_or_else(|| panic!("{ordinal} has a list"));
        let listed = |near: Neighbour| {
            (near.ordinal, format!("{} {:?} {:?}", near.score, near.visual, near.semantic), names.clone())
        };
        list.iter().map(listed).collect()
    };
    (1..=projects).map(list).collect()
}

impl Fixture {
    /// So many projects with vectors of the former encoder, and their lists.
    async fn encoded(projects: u64) -> (Fixture, Vec<Vec<Listed>>) {
        let mut fixture = Fixture::new().await;
        let all = (0..projects).map(selected).chain((0..projects).map(|number| encoded(number, FORMER)));
        fixture.apply(&all.collect::<Vec<_>>()).await;
        fixture.writer.finish_lists().await.unwrap();
        fixture.assert_same().await;
        let former = lists(&fixture.reader, projects);
        (fixture, former)
    }

    /// Returns the lists that readers see now.
    async fn lists(&self, projects: u64) -> Vec<Vec<Listed>> {
        self.reader.refresh().await.unwrap();
        lists(&self.reader, projects)
    }
}

#[tokio::test]
async fn lists_are_the_former_ones_until_the_vectors_of_all_projects_are_there() {
    // Few, whose lists are otherwise computed at once, and many.
    for projects in [5, 100] {
        let (mut fixture, former) = Fixture::encoded(projects).await;
        fixture.apply(&[encoded(0, NEW)]).await;
        assert_eq!(fixture.lists(projects).await, former, "the first is compared with none of the others");
        assert!(!fixture.writer.has_unfinished_lists(), "nothing is computed yet");
        // Others change meanwhile.
        fixture.apply(&[encoded(1, NEW), encoded(3, FORMER)]).await;
        fixture.apply(&(2..projects).map(|number| encoded(number, NEW)).collect::<Vec<_>>()).await;
        assert_eq!(fixture.lists(projects).await, former);
        fixture.writer.finish_lists().await.unwrap();
        fixture.assert_same().await;
        let new = lists(&fixture.reader, projects);
        let encoders = |list: &Vec<Listed>| {
            let names: Vec<&[Option<String>; 2]> = list.iter().map(|(.., names)| names).collect();
            names.iter().all(|name| *name == names[0]).then(|| names[0].clone())
        };
        for (number, list) in new.iter().enumerate() {
            let visual = (number != 3).then(|| NEW.to_owned());
            assert_eq!(encoders(list), Some([visual, Some(NEW.to_owned())]), "of {number}");
            assert_ne!(*list, former[number]);
        }
        // The next change of a single project shows at once again.
        fixture.apply(&[withdrawn(0), encoded(1, NEW)]).await;
        fixture.assert_same().await;
    }
}

#[tokio::test]
async fn a_trickle_of_other_events_does_not_delay_the_new_lists_indefinitely() {
    let (mut fixture, former) = Fixture::encoded(70).await;
    for number in 0..70 {
        fixture.apply(&[encoded(number, NEW)]).await;
    }
    assert_eq!(fixture.lists(70).await, former);
    for _ in 0..20 {
        fixture.apply(&[encoded(5, NEW)]).await;
    }
    fixture.assert_same().await;
    assert_eq!(fixture.reader.encoders(1), [Some(NEW.into()), Some(NEW.into())]);
}

#[tokio::test]
async fn supplied_vectors_show_at_once_whatever_made_them() {
    let (mut fixture, _) = Fixture::encoded(5).await;
    for (from, to) in [(FORMER, "clip"), ("clip", "clip-2"), ("clip-2", NEW)] {
        fixture.apply(&[recorded(0, to, Some(&[1.0, 0.0, 0.5]), Some(&[1.0, 1.0]))]).await;
        fixture.assert_same().await;
        assert_eq!(fixture.reader.encoders(1), [Some(to.into()), Some(to.into())], "after {from}");
    }
}

#[tokio::test]
async fn after_a_crash_the_lists_follow_what_was_recorded() {
    let (mut fixture, former) = Fixture::encoded(5).await;
    fixture.apply(&[encoded(0, NEW), encoded(1, NEW)]).await;
    fixture.reopen().await;
    assert_eq!(fixture.lists(5).await, former);
    fixture.writer.finish_lists().await.unwrap();
    fixture.assert_same().await;
}
