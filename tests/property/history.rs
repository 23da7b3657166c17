//! Random histories: commands executed by the real command service on a real event store, compared with the naive model.

use std::sync::Arc;

use event_log::EventLog;
use proptest::prelude::*;
use schemas::clock::Clock;
use schemas::command::{
    Command, CommandMessage, CommandReply, ImportLine, ImportOptions, LineForm, LineResult,
};
use schemas::envelope::Recorded;
use schemas::ids::Position;
use serde_json::json;
use write::service::{CommandDispatcher, ProjectService};

use crate::model::{EditorCommand, Model, SLUGS, name, slug};

/// Generates up to forty commands of editors.
pub(crate) fn commands() -> impl Strategy<Value = Vec<EditorCommand>> {
    let (slug, name) = (0..SLUGS, 0..3_usize);
    let command = prop_oneof![
        3 => (slug.clone(), name.clone()).prop_map(|(slug, name)| EditorCommand::Select { slug, name }),
        4 => (slug.clone(), name.clone()).prop_map(|(slug, name)| EditorCommand::Revise { slug, name }),
        3 => (slug.clone(), slug.clone()).prop_map(|(slug, to)| EditorCommand::Rename { slug, to }),
        2 => slug.clone().prop_map(|slug| EditorCommand::Withdraw { slug }),
        2 => slug.clone().prop_map(|slug| EditorCommand::Restore { slug }),
        2 => slug.clone().prop_map(|slug| EditorCommand::Identify { slug }),
        3 => (slug, name).prop_map(|(slug, name)| EditorCommand::Import { slug, name }),
    ];
    proptest::collection::vec(command, 1..40)
}

/// Executes the commands, compares each reply with the model, and returns the log.
pub(crate) async fn execute(commands: &[EditorCommand], model: &mut Model) -> Vec<Recorded> {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::system();
    let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
    let projects = Arc::new(ProjectService::new(store.clone(), clock.clone()));
    let dispatcher = CommandDispatcher::new(projects);
    for command in commands {
        let id = clock.command_id();
        let message = CommandMessage::new(id, "Ada".parse().unwrap(), to_command(command, model));
        let answer = dispatcher.execute(message.clone()).await;
        let again = dispatcher.execute(message).await;
        let done = match &answer {
            CommandReply::Project(_) => true,
            CommandReply::Imported { lines, .. } => !matches!(lines[0].result, LineResult::Rejected { .. }),
            _ => false,
        };
        assert_eq!(done, model.command(command), "{command:?} was answered with {answer:?}");
        if let (CommandReply::Project(first), CommandReply::Project(second)) = (&answer, &again) {
            assert_eq!(
                (&first.slug, first.revision),
                (&second.slug, second.revision),
                "{command:?} sent twice"
            );
        }
    }
    let log = store.read_all(Position::START, 10_000).await.unwrap();
    store.close().await;
    log
}

fn to_command(command: &EditorCommand, model: &Model) -> Command {
    let record = |slug_number: usize, name_number: usize| {
        json!({"slug": slug(slug_number), "name": name(name_number), "category": "art"})
            .as_object()
            .unwrap()
            .clone()
    };
    let parse = |number: usize| slug(number).parse().unwrap();
    match *command {
        EditorCommand::Select { slug, name } => Command::Select { record: record(slug, name) },
        EditorCommand::Revise { slug, name: number } => Command::Revise {
            slug: parse(slug),
            changes: json!({"name": name(number)}).as_object().unwrap().clone(),
        },
        EditorCommand::Rename { slug, to } => Command::Rename { slug: parse(slug), to: parse(to) },
        EditorCommand::Withdraw { slug } => Command::Withdraw { slug: parse(slug), reason: "sold".into() },
        EditorCommand::Restore { slug } => Command::Restore { slug: parse(slug) },
        EditorCommand::Identify { slug: number } => {
            // One id for each project, whatever its slug is.
            let id = model.slugs.get(&number).map_or("none".to_owned(), |index| format!("of {index}"));
            let line = json!({"slug": slug(number), "id": id, "source": "list"});
            Command::Import {
                lines: vec![ImportLine::new(1, line.to_string())],
                options: ImportOptions { lines: LineForm::Patch, ..ImportOptions::default() },
            }
        }
        EditorCommand::Import { slug, name } => Command::Import {
            lines: vec![ImportLine::new(1, with_vectors(record(slug, name), name).to_string())],
            options: ImportOptions::default(),
        },
    }
}

/// Returns a record with vectors derived from its name's number; every third has none.
fn with_vectors(mut record: serde_json::Map<String, serde_json::Value>, number: usize) -> serde_json::Value {
    if !number.is_multiple_of(3) {
        record.insert("vectors".into(), json!({"visual": [1.0, number as f32]}));
        record.insert("vector_model".into(), "m".into());
    }
    record.into()
}
