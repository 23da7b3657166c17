//! The state of every project at every time, compared with a list of the editors' commands.

use serde_json::{Value, json};

use super::records::Random;
use crate::service::Service;

const PROJECTS: usize = 6;
const COMMANDS: usize = 90;

#[derive(Debug, Clone)]
struct RecordedState {
    slug: String,
    city: String,
    at: String,
}

/// A project by its commands.
#[derive(Debug)]
struct Project {
    slugs: Vec<String>,
    states: Vec<RecordedState>,
    is_withdrawn: bool,
}

/// The accepted commands, and the slugs in use.
struct Editors<'a> {
    service: &'a Service,
    projects: Vec<Project>,
    number: usize,
}

impl Editors<'_> {
    /// Sends a command; the model decides whether it must be accepted.
    fn apply(&mut self, apply: usize, index: usize, through: usize) {
        self.number += 1;
        let slug = self.projects[index].slugs[through % self.projects[index].slugs.len()].clone();
        let is_withdrawn = self.projects[index].is_withdrawn;
        let city = format!("City {}", self.number % 4);
        match apply {
            0..5 => {
                let changes = self.projects[index].states.last().unwrap().city != city;
                let done = self.send(!is_withdrawn, &["revise", &slug, "--set", &format!("city={city}")]);
                if !is_withdrawn && changes {
                    let at = self.time(&done);
                    let project = &mut self.projects[index];
                    let slug = project.slugs.last().unwrap().clone();
                    project.states.push(RecordedState { slug, city, at });
                }
            }
            5..7 => {
                let to = format!("slug-{index}-{}", self.number % 5);
                self.send(!is_withdrawn, &["rename", &slug, &to]);
                if !is_withdrawn {
                    let project = &mut self.projects[index];
                    project.slugs.retain(|held| *held != to);
                    project.slugs.push(to);
                }
            }
            7 => {
                self.send(true, &["withdraw", &slug, "--reason", "sold"]);
                self.projects[index].is_withdrawn = true;
            }
            _ => {
                self.send(is_withdrawn, &["restore", &slug]);
                self.projects[index].is_withdrawn = false;
            }
        }
    }

    fn send(&self, is_accepted: bool, args: &[&str]) -> Value {
        let output = self.service.run(&[&["curate"], args, &["--json"]].concat());
        assert_eq!(output.status.success(), is_accepted, "{output}");
        output.json()
    }

    /// Returns the time of the event at the position in a reply.
    fn time(&self, done: &Value) -> String {
        let position = done["position"].to_string();
        let event = self.service.json(&["events", "show", &position]).pop().unwrap();
        event["time"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn every_project_reads_at_each_time_as_edited() {
    let seed = kit::seed();
    let mut random = Random::new(seed);
    let Some(service) = Service::empty().await else { return };
    let lines: Vec<Value> = (0..PROJECTS)
        .map(|n| json!({"slug": format!("slug-{n}"), "name": format!("P{n}"), "category": "art", "city": "City 9"}))
        .collect();
    service.import(&lines).await;
    let events = service.json(&["events", "tail", "--from", "1", "--no-follow"]);
    let projects = (0..PROJECTS).map(|n| {
        let slug = format!("slug-{n}");
        let states = RecordedState {
            slug: slug.clone(),
            city: "City 9".into(),
            at: events[n]["time"].as_str().unwrap().into(),
        };
        Project { slugs: vec![slug], states: vec![states], is_withdrawn: false }
    });
    let mut editors = Editors { service: &service, projects: projects.collect(), number: 0 };
    for _ in 0..COMMANDS {
        let (apply, index, through) = (random.roll(9), random.roll(PROJECTS), random.roll(4));
        editors.apply(apply, index, through);
    }
    let position = service.json(&["status"])[0]["store"]["position"].as_u64().unwrap();
    service.caught_up(position).await;
    let listed = editors.projects.iter().filter(|project| !project.is_withdrawn).count();
    let what = format!("seed {seed}: {listed} listed projects in search");
    service.wait_for_response("/v1/search?q=city", &what, |_, found| found["total"] == listed).await;
    for project in &editors.projects {
        assert_says(&service, project, seed).await;
    }
}

async fn assert_says(service: &Service, project: &Project, seed: u64) {
    let current = project.slugs.last().unwrap();
    for slug in &project.slugs {
        let status = service.http.get(&format!("/v1/project/{slug}")).await.status;
        let expected = if project.is_withdrawn {
            410
        } else if slug == current {
            200
        } else {
            308
        };
        assert_eq!(status, expected, "seed {seed}: {slug} of {project:?}");
    }
    let newest = project.states.len();
    for (index, states) in project.states.iter().enumerate() {
        let number = index + 1;
        let record = service.http.get(&format!("/v1/project/{current}?revision={number}")).await.json();
        let expected = json!([states.slug, states.city, number, states.at]);
        let shown = json!([record["slug"], record["city"], record["revision"], record["updated_at"]]);
        assert_eq!(shown, expected, "seed {seed}: revision {number} of {project:?}");
        for slug in &project.slugs {
            let cited = service.http.get(&format!("/cite/{slug}/{number}?format=csl")).await;
            assert_eq!(cited.status, 200, "seed {seed}: /cite/{slug}/{number}");
        }
        let as_of =
            async |at: jiff::Timestamp| service.http.get(&format!("/v1/project/{current}?as_of={at}")).await;
        let at: jiff::Timestamp = states.at.parse().unwrap();
        let nanosecond = jiff::SignedDuration::from_nanos(1);
        assert_eq!(as_of(at).await.json()["revision"], number, "seed {seed}: at {at} of {project:?}");
        let before = as_of(at - nanosecond).await;
        match index {
            0 => assert_eq!(before.status, 400, "seed {seed}: before the first revision of {project:?}"),
            _ => assert_eq!(before.json()["revision"], number - 1, "seed {seed}: before {at} of {project:?}"),
        }
    }
    let none = service.http.get(&format!("/v1/project/{current}?revision={}", newest + 1)).await;
    assert_eq!(none.status, 400, "seed {seed}: {project:?}");
}
