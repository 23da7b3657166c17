use event_log::EventLog;
use futures::TryStreamExt;
use schemas::command::*;
use schemas::ids::Revision;
use serde_json::json;

use super::*;
use crate::service::CommandDispatcher;
use crate::service::tests::WriteSide;

mod ids;
mod imports;
mod patches;
mod sources;

async fn catalog() -> WriteSide {
    WriteSide::open(tempfile::tempdir().unwrap(), Clock::system()).await
}

impl WriteSide {
    /// The lines' outcomes in short: `new a`, `changed a intro`, `same a`, `rejected field: reason`.
    async fn import(&self, lines: &[&str]) -> Vec<String> {
        short(&self.send(import(lines, ImportOptions::default())).await)
    }

    async fn export(&self) -> Vec<String> {
        export(&self.store, ExportedVectors::Supplied)
            .map_ok(|project| project.line)
            .try_collect()
            .await
            .unwrap()
    }

    async fn head(&self) -> u64 {
        self.store.head().await.unwrap().position.0
    }
}

fn slug(text: &str) -> Slug {
    text.parse().unwrap()
}

fn object(value: serde_json::Value) -> serde_json::Map<String, serde_json::Value> {
    value.as_object().unwrap().clone()
}

fn select(at: &str, name: &str) -> Command {
    Command::Select { record: object(json!({"slug": at, "name": name, "category": "art"})) }
}

fn revise(at: &str, changes: serde_json::Value) -> Command {
    Command::Revise { slug: slug(at), changes: object(changes) }
}

fn rename(at: &str, to: &str) -> Command {
    Command::Rename { slug: slug(at), to: slug(to) }
}

fn withdraw(at: &str) -> Command {
    Command::Withdraw { slug: slug(at), reason: "sold".into() }
}

fn import(lines: &[&str], options: ImportOptions) -> Command {
    let numbered = (1..).zip(lines);
    let lines = numbered.map(|(number, text)| ImportLine::new(number, (*text).into())).collect();
    Command::Import { lines, options }
}

fn done(at: &str, revision: u32, position: u64) -> CommandReply {
    let changed = position > 0;
    CommandReply::Project(ProjectOutcome {
        slug: slug(at),
        revision: Revision(revision),
        position: Position(position),
        changed,
    })
}

#[track_caller]
fn refused(reply: &CommandReply, kind: FailureKind, detail: &str) {
    match reply {
        CommandReply::Failed(failure) => {
            assert_eq!((failure.kind, failure.detail.as_str()), (kind, detail));
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn short(reply: &CommandReply) -> Vec<String> {
    let CommandReply::Imported { lines, .. } = reply else { panic!("{reply:?}") };
    assert!(lines.iter().map(|line| line.number).eq(1..=lines.len() as u64));
    let in_short = |line: &LineOutcome| match &line.result {
        LineResult::New { slug } => format!("new {slug}"),
        LineResult::Changed { slug, members, .. } => format!("changed {slug} {}", members.join(",")),
        LineResult::Same { slug, .. } => format!("same {slug}"),
        LineResult::Rejected { faults } => format!("rejected {}: {}", faults[0].field, faults[0].reason),
    };
    lines.iter().map(in_short).collect()
}

#[tokio::test]
async fn a_project_is_selected_changed_withdrawn_and_restored() {
    let catalog = catalog().await;
    assert_eq!(catalog.send(select("a", "First")).await, done("a", 1, 1));
    assert_eq!(catalog.send(revise("a", json!({"intro": "Now."}))).await, done("a", 2, 2));
    assert_eq!(catalog.send(revise("a", json!({"intro": "Now."}))).await, done("a", 2, 0));
    assert_eq!(catalog.send(rename("a", "b")).await, done("b", 2, 3));
    assert_eq!(catalog.send(revise("a", json!({"intro": null}))).await, done("b", 3, 4), "by its old slug");
    assert_eq!(catalog.send(withdraw("b")).await, done("b", 3, 5));
    assert_eq!(catalog.send(Command::Restore { slug: slug("b") }).await, done("b", 3, 6));
    let history = project_history(&catalog.store, &slug("a")).await.unwrap().unwrap();
    let kinds: Vec<_> = history.iter().map(|event| event.kind.rsplit('.').nth(1).unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "project_selected",
            "project_revised",
            "project_renamed",
            "project_revised",
            "project_withdrawn",
            "project_restored"
        ]
    );
    assert_eq!(project_history(&catalog.store, &slug("never")).await.unwrap(), None);
}

#[tokio::test]
async fn a_command_that_breaks_a_rule_is_rejected_with_a_sentence() {
    let catalog = catalog().await;
    catalog.send(select("a", "First")).await;
    catalog.send(select("b", "Second")).await;
    let taken = "the slug “b” belongs to the project “Second”; revise that one, or choose another slug";
    refused(&catalog.send(rename("a", "b")).await, FailureKind::Rejected, taken);
    refused(&catalog.send(select("b", "Third")).await, FailureKind::Rejected, taken);
    let unknown = "there is no project “q”; check the slug, or select the project first";
    refused(&catalog.send(withdraw("q")).await, FailureKind::Rejected, unknown);
    let faulty = catalog.send(Command::Select { record: object(json!({"slug": "c", "year": "x"})) }).await;
    let CommandReply::Failed(failure) = faulty else { panic!("{faulty:?}") };
    let fields: Vec<_> = failure.faults.iter().map(|fault| fault.field.as_str()).collect();
    assert_eq!(fields, ["name", "year", "category"]);
    assert_eq!(catalog.head().await, 2, "nothing was written");
}

#[tokio::test]
async fn a_repeated_command_gets_the_first_reply() {
    let catalog = catalog().await;
    let commands = [
        select("a", "First"),
        revise("a", json!({"intro": "Now."})),
        rename("a", "b"),
        withdraw("b"),
        Command::Restore { slug: slug("b") },
    ];
    let mut sent = Vec::new();
    for command in commands {
        let message = catalog.message(command);
        let reply = catalog.commands.execute(message.clone()).await;
        assert!(matches!(reply, CommandReply::Project(ProjectOutcome { changed: true, .. })), "{reply:?}");
        sent.push((message, reply));
    }
    for (message, reply) in sent {
        assert_eq!(catalog.commands.execute(message).await, reply);
    }
    assert_eq!(catalog.head().await, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_is_sent_concurrently_is_executed_once() {
    let catalog = catalog().await;
    let message = catalog.message(select("a", "First"));
    let replies = catalog.at_once(vec![message; 16]).await;
    assert_eq!(replies, vec![done("a", 1, 1); 16]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_edits_of_one_project_are_all_kept() {
    let catalog = catalog().await;
    catalog.send(select("a", "First")).await;
    let members = ["studio", "city", "intro", "description", "design_language", "material", "light", "mood"];
    let messages = members.map(|member| catalog.message(revise("a", json!({ member: "said" }))));
    for reply in catalog.at_once(messages.into()).await {
        assert!(matches!(reply, CommandReply::Project(ProjectOutcome { changed: true, .. })), "{reply:?}");
    }
    let line = &catalog.export().await[0];
    assert_eq!(line.matches("\"said\"").count(), members.len(), "{line}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn however_many_commands_change_one_project_at_once_none_is_refused() {
    let catalog = catalog().await;
    catalog.send(select("a", "First")).await;
    let edit = |editor: u64| catalog.message(revise("a", json!({"studio": format!("Of {editor}")})));
    let replies = catalog.at_once((0..64).map(edit).collect()).await;
    let is_refused =
        |reply: &&CommandReply| !matches!(reply, CommandReply::Project(ProjectOutcome { changed: true, .. }));
    let refused: Vec<&CommandReply> = replies.iter().filter(is_refused).collect();
    assert!(refused.is_empty(), "{} as {:?}", refused.len(), refused[0]);
    assert_eq!(catalog.head().await, 65);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_concurrent_commands_gets_a_slug() {
    let catalog = catalog().await;
    let messages = (0..32).map(|editor| catalog.message(select("wanted", &format!("By {editor}"))));
    let replies = catalog.at_once(messages.collect()).await;
    assert_eq!(replies.iter().filter(|reply| **reply == done("wanted", 1, 1)).count(), 1);
    assert_eq!(catalog.head().await, 1);
}

#[tokio::test]
async fn an_import_reports_new_changed_and_unchanged_projects() {
    let catalog = catalog().await;
    let (a, b) = (r#"{"slug":"a","name":"A","category":"art"}"#, r#"{"name":"Büro","category":"design"}"#);
    assert_eq!(catalog.import(&[a, b]).await, ["new a", "new buro"]);
    assert_eq!(catalog.import(&[a, b]).await, ["same a", "same buro"]);
    let other = r#"{"slug":"a","name":"A","category":"art","year":1999,"taste":{"mood":"calm"}}"#;
    assert_eq!(catalog.import(&[other, b]).await, ["changed a year,taste.mood", "same buro"]);
    assert_eq!(catalog.head().await, 3);
}

#[tokio::test]
async fn commands_and_lines_are_counted_and_dry_runs_change_no_line_counts() {
    let catalog = catalog().await;
    let lines = [r#"{"slug":"a","name":"A","category":"art"}"#, "{"];
    let dry = ImportOptions { dry_run: true, ..ImportOptions::default() };
    catalog.send(import(&lines, dry)).await;
    catalog.import(&lines).await;
    catalog.send(withdraw("nothing")).await;
    let metrics = catalog.commands.metrics();
    let ended: Vec<_> =
        metrics.commands().into_iter().map(|(name, counts)| (name, counts.outcomes)).collect();
    assert_eq!(ended, [("import", [2, 0, 0, 0]), ("withdraw", [0, 1, 0, 0])]);
    assert_eq!(metrics.lines(), [1, 0, 0, 1]);
}

#[tokio::test]
async fn a_rejected_line_does_not_affect_the_others() {
    let catalog = catalog().await;
    let reply = catalog
        .import(&[
            r#"{"name":"A","category":"art"}"#,
            "{",
            r#"{"name":"B"}"#,
            r#"{"name":"C","category":"art"}"#,
        ])
        .await;
    assert_eq!(
        reply,
        [
            "new a",
            "rejected : is not JSON: EOF while parsing an object at line 1 column 1",
            "rejected category: is absent or blank; every record needs one",
            "new c"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_imports_of_the_same_lines_create_each_project_once() {
    let catalog = catalog().await;
    let lines: Vec<String> =
        (0..300).map(|n| format!(r#"{{"name":"Project {n}","category":"art"}}"#)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let messages = (0..4).map(|_| catalog.message(import(&lines, ImportOptions::default())));
    let mut new = 0;
    for reply in catalog.at_once(messages.collect()).await {
        new += short(&reply).iter().filter(|line| line.starts_with("new ")).count();
    }
    assert_eq!((new, catalog.head().await), (300, 300));
}

#[tokio::test]
async fn a_withdrawn_project_is_not_changed_by_an_import() {
    let catalog = catalog().await;
    catalog.send(select("a", "A")).await;
    catalog.send(withdraw("a")).await;
    assert_eq!(
        catalog.import(&[r#"{"slug":"a","name":"B","category":"art"}"#]).await,
        ["rejected slug: the project “a” is withdrawn (sold); restore it first"]
    );
}

#[tokio::test]
async fn an_export_is_imported_and_exported_byte_for_byte() {
    let catalog = catalog().await;
    let mut lines: Vec<String> = (0..450)
        .map(|n| {
            format!(
                r#"{{"slug":"p-{n}","name":"Łódź {n}\n\"x\"","category":"art","details":[{{"label":"a","value":"{n}"}}],"vectors":{{"visual":[0.1,-{n}.7]}},"vector_model":"m"}}"#
            )
        })
        .collect();
    lines.push(r#"{"slug":"gone","name":"Gone","category":"art"}"#.into());
    catalog.import(&lines.iter().map(String::as_str).collect::<Vec<_>>()).await;
    catalog.send(rename("p-7", "a-new-one")).await;
    catalog.send(withdraw("gone")).await;
    let exported = catalog.export().await;
    assert_eq!(exported.len(), 450);
    assert!(exported[0].starts_with(r#"{"slug":"a-new-one","#));
    let empty = self::catalog().await;
    empty.import(&exported.iter().map(String::as_str).collect::<Vec<_>>()).await;
    assert_eq!(empty.export().await, exported);
}

#[tokio::test]
async fn an_export_shows_one_position_of_the_log() {
    let catalog = catalog().await;
    let lines: Vec<String> =
        (0..300).map(|n| format!(r#"{{"slug":"p-{n:03}","name":"P","category":"art"}}"#)).collect();
    catalog.import(&lines.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let before = catalog.export().await;
    let mut export = std::pin::pin!(export(&catalog.store, ExportedVectors::Supplied));
    let mut lines = vec![export.try_next().await.unwrap().unwrap().line];
    catalog.send(rename("p-000", "z")).await;
    catalog.send(rename("p-299", "0")).await;
    catalog.send(withdraw("p-250")).await;
    catalog.send(revise("p-260", json!({"name": "Q"}))).await;
    while let Some(project) = export.try_next().await.unwrap() {
        lines.push(project.line);
    }
    assert_eq!(lines, before);
}

#[tokio::test]
async fn a_read_only_store_is_unavailable_for_commands_and_its_history_readable() {
    let catalog = catalog().await;
    catalog.send(select("a", "A")).await;
    let reader = Arc::new(EventLog::open_read_only(catalog.folder.path()).await.unwrap());
    let projects = ProjectService::new(reader.clone(), catalog.clock.clone());
    let commands = CommandDispatcher::new(Arc::new(projects));
    let message = catalog.message(withdraw("a"));
    let unavailable = "the event store is not available: it is open for reading only";
    refused(&commands.execute(message).await, FailureKind::Unavailable, unavailable);
    let history = project_history(&reader, &slug("a")).await.unwrap().unwrap();
    assert_eq!(history.len(), 1);
}
