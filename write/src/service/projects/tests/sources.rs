//! External ids of sources: the same id in two sources is two projects, and each finds its own again.

use std::collections::HashMap;

use proptest::prelude::*;
use schemas::external_id::{ExternalId, SourceName};

use super::*;

fn source(name: &str) -> SourceName {
    name.parse().unwrap()
}

fn external(source: &str, id: &str) -> ExternalId {
    ExternalId { id: id.into(), source: source.parse().ok() }
}

/// A line with an id, of the source if it is not blank.
fn line(source: &str, id: &str, name: &str) -> String {
    match source {
        "" => format!(r#"{{"id":"{id}","name":"{name}","category":"art"}}"#),
        source => format!(r#"{{"id":"{id}","source":"{source}","name":"{name}","category":"art"}}"#),
    }
}

fn refs(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

fn dry() -> ImportOptions {
    ImportOptions { dry_run: true, ..ImportOptions::default() }
}

#[tokio::test]
async fn the_same_id_in_two_sources_is_two_projects() {
    let catalog = catalog().await;
    let lines = [
        line("tate", "7", "Nets"),
        line("moma", "7", "Chair"),
        line("", "7", "Vase"),
        line("tate", "8", "Sea"),
    ];
    let third = external("", "7").slugs()[1].to_string();
    let slugs = ["7", "7-moma", &third, "8"];
    let all = |word: &str| slugs.map(|slug| format!("{word} {slug}")).to_vec();
    assert_eq!(short(&catalog.send(import(&refs(&lines), dry())).await), all("new"), "in a dry run");
    assert_eq!(catalog.import(&refs(&lines)).await, all("new"));
    let head = catalog.head().await;
    assert_eq!(catalog.import(&refs(&lines)).await, all("same"));
    let mut backwards = lines.clone();
    backwards.reverse();
    let mut same = all("same");
    same.reverse();
    assert_eq!(catalog.import(&refs(&backwards)).await, same, "in another order");
    assert_eq!(catalog.head().await, head);
}

#[tokio::test]
async fn a_source_finds_its_project_after_a_change_of_slug_and_name_in_every_form_of_a_line() {
    let catalog = catalog().await;
    catalog.import(&[&line("tate", "7", "Nets"), &line("moma", "7", "Chair")]).await;
    catalog.send(rename("7", "nets")).await;
    catalog.send(rename("7-moma", "chair")).await;
    catalog.send(revise("nets", json!({"name": "Nets, drying"}))).await;
    assert_eq!(
        catalog.import(&[&line("moma", "7", "Stool"), &line("tate", "7", "Nets")]).await,
        ["changed chair name", "changed nets name"]
    );
    for (lines, expected) in [(LineForm::Patch, "changed nets name"), (LineForm::Cells, "same nets")] {
        let options = ImportOptions { lines, ..ImportOptions::default() };
        let reply = catalog.send(import(&[&line("tate", "7", "Sails")], options)).await;
        assert_eq!(short(&reply), [expected], "{lines:?}");
    }
    assert_eq!(
        catalog.import(&[&line("aic", "7", "Cup")]).await,
        ["new 7-aic"],
        "the slug 7 stays that of the first"
    );
}

#[tokio::test]
async fn a_project_of_an_import_without_a_source_is_found_by_its_id_and_name() {
    let catalog = catalog().await;
    let marked = external("", "A-1").slugs()[1].to_string();
    catalog.import(&[&line("", "A.1", "Vase"), &line("", "A-1", "Bowl")]).await;
    // Its own name, in another case; and another name, which is another project.
    let lines = [line("tate", "A-1", "BOWL"), line("tate", "A.1", "Cup")];
    let expected = [format!("changed {marked} name,source"), "new a-1-tate".to_owned()];
    assert_eq!(short(&catalog.send(import(&refs(&lines), dry())).await), expected);
    assert_eq!(catalog.import(&refs(&lines)).await, expected);
    let same = [format!("same {marked}"), "same a-1-tate".to_owned()];
    assert_eq!(catalog.import(&refs(&lines)).await, same);
    assert_eq!(
        catalog.import(&[&line("", "A-1", "BOWL")]).await,
        [format!("same {marked}")],
        "by its former id"
    );
    assert_eq!(
        catalog.import(&[&line("moma", "A-1", "BOWL")]).await,
        ["new a-1-moma"],
        "it has a source now"
    );
    assert_eq!(catalog.import(&[&line("", "A.1", "Vase")]).await, ["same a-1"], "which is nobody's");
}

#[tokio::test]
async fn a_project_without_an_id_is_found_by_its_slug_and_gets_the_id() {
    let catalog = catalog().await;
    // As a log has it that was written before ids were recorded.
    catalog.import(&[r#"{"slug":"c-1","name":"Cup","category":"art"}"#]).await;
    assert_eq!(catalog.import(&[&line("tate", "C.1", "Mug")]).await, ["changed c-1 name,id"]);
    assert_eq!(
        catalog.import(&[&line("moma", "C.1", "Mug"), &line("tate", "C.1", "Mug")]).await,
        ["new c-1-moma", "same c-1"]
    );
}

#[tokio::test]
async fn a_slug_and_an_id_name_one_project_or_the_line_is_rejected() {
    let catalog = catalog().await;
    let with = |slug: &str, id: &str| {
        format!(r#"{{"slug":"{slug}","id":"{id}","source":"tate","name":"A","category":"art"}}"#)
    };
    assert_eq!(catalog.import(&[&with("nets", "7"), &with("sea", "8")]).await, ["new nets", "new sea"]);
    assert_eq!(
        catalog.import(&[&line("tate", "7", "A"), &with("free", "8")]).await,
        ["same nets", "same sea"]
    );
    catalog.import(&[r#"{"slug":"bare","name":"A","category":"art"}"#]).await;
    assert_eq!(
        catalog.import(&[&with("sea", "7"), &with("nets", "9"), &with("bare", "9"), &with("sea", "9")]).await,
        [
            "rejected slug: is “sea”, and the id “7” of tate belongs to another project “nets”; leave out the slug or the id",
            "rejected id: is “9” of tate, and the project “nets” has the id “7” of tate; leave out the slug or the id",
            "changed bare id",
            "rejected slug: is “sea”, and the id “9” of tate belongs to another project “bare”; leave out the slug or the id",
        ]
    );
    let select = Command::Select {
        record: object(json!({"slug": "new", "id": 7, "source": "tate", "name": "A", "category": "art"})),
    };
    let taken = "id is “7” of tate, which belongs to another project; leave it out";
    refused(&catalog.send(select).await, FailureKind::Rejected, taken);
    let revised = "source is recorded by an import with the slug; leave it out";
    refused(&catalog.send(revise("sea", json!({"source": "moma"}))).await, FailureKind::Rejected, revised);
}

#[tokio::test]
async fn the_listed_projects_of_a_source_are_found() {
    let catalog = catalog().await;
    let lines: Vec<String> = (0..450).map(|n| line("tate", &format!("T {n:03}"), "Nets")).collect();
    catalog.import(&refs(&lines)).await;
    catalog.import(&[&line("tat", "1", "A"), &line("tate-2", "2", "B"), &line("", "3", "C")]).await;
    catalog.send(rename("t-001", "nets")).await;
    catalog.send(withdraw("t-002")).await;
    let found = projects_of_source(&catalog.store, &source("tate"), |_| true).await.unwrap();
    let slug_of = |n: usize| if n == 1 { slug("nets") } else { slug(&format!("t-{n:03}")) };
    let expected = (0..450).filter(|n| *n != 2).map(|n| SourceProject {
        id: format!("T {n:03}"),
        slug: slug_of(n),
        name: "Nets".into(),
    });
    let expected: Vec<SourceProject> = expected.collect();
    let wanted = |id: &str| id == "T 001" || id == "T 002";
    assert_eq!(
        projects_of_source(&catalog.store, &source("tate"), wanted).await,
        Ok((449, vec![expected[1].clone()]))
    );
    assert_eq!(found, (449, expected));
    assert_eq!(projects_of_source(&catalog.store, &source("never"), |_| true).await, Ok((0, Vec::new())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_imports_of_the_same_ids_create_each_project_once() {
    let catalog = catalog().await;
    let lines: Vec<String> =
        (0..200).flat_map(|n| ["tate", "moma"].map(|source| line(source, &n.to_string(), source))).collect();
    let messages = (0..4).map(|_| catalog.message(import(&refs(&lines), ImportOptions::default())));
    let mut new = 0;
    for reply in catalog.at_once(messages.collect()).await {
        new += short(&reply).iter().filter(|line| line.starts_with("new ")).count();
    }
    assert_eq!((new, catalog.head().await), (400, 400));
}

/// One step of a history: lines of one import, by the numbers of source, id and name; or a rename.
#[derive(Debug, Clone)]
enum Step {
    Import(Vec<(usize, usize, usize)>),
    Rename(usize),
}

const SOURCES: [&str; 3] = ["", "tate", "moma"];
const IDS: [&str; 4] = ["7", "A.1", "A-1", "7 tate"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let line = (0..SOURCES.len(), 0..IDS.len(), 0..2_usize);
    let step = prop_oneof![
        3 => proptest::collection::vec(line, 1..5).prop_map(Step::Import),
        1 => any::<usize>().prop_map(Step::Rename),
    ];
    proptest::collection::vec(step, 1..10)
}

/// Executes the steps. Every id of every source must find its own project, whatever its slug and name are.
async fn each_id_finds_its_project(steps: Vec<Step>) {
    let catalog = catalog().await;
    let mut slugs: HashMap<(usize, usize), String> = HashMap::new();
    for (number, step) in steps.into_iter().enumerate() {
        match step {
            Step::Import(numbers) => {
                for (of, id, name) in numbers {
                    // No project of another source has the name.
                    let text = line(SOURCES[of], IDS[id], &format!("{} {id} {name}", SOURCES[of]));
                    let reply = catalog.import(&[&text]).await.remove(0);
                    let words: Vec<&str> = reply.split(' ').collect();
                    match slugs.get(&(of, id)) {
                        Some(slug) => {
                            assert!(
                                ["same", "changed"].contains(&words[0]) && words[1] == slug,
                                "{text}: {reply}"
                            );
                        }
                        None => {
                            assert_eq!(words[0], "new", "{text}: {reply}");
                            assert!(slugs.values().all(|slug| slug != words[1]), "{text}: {reply}");
                            slugs.insert((of, id), words[1].to_owned());
                        }
                    }
                }
            }
            Step::Rename(chosen) => {
                let mut keys: Vec<_> = slugs.keys().copied().collect();
                keys.sort_unstable();
                let Some(key) = keys.get(chosen % keys.len().max(1)) else { continue };
                let to = format!("renamed-{number}");
                catalog.send(rename(&slugs[key], &to)).await;
                slugs.insert(*key, to);
            }
        }
    }
    // Imported elsewhere, the export is the same catalog, and every id finds its project there.
    let (exported, other) = (catalog.export().await, self::catalog().await);
    other.import(&refs(&exported)).await;
    assert_eq!(other.export().await, exported);
    for ((of, id), slug) in slugs {
        let reply = other.import(&[&line(SOURCES[of], IDS[id], "Another")]).await;
        assert_eq!(reply, [format!("changed {slug} name")], "{} {}", SOURCES[of], IDS[id]);
    }
    for catalog in [&catalog, &other] {
        let verified = catalog.store.verify(|_| {}).await.unwrap();
        assert_eq!(verified.map(|verified| verified.events), Ok(catalog.head().await));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_id_of_a_source_always_finds_its_project(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(each_id_finds_its_project(steps));
    }
}
