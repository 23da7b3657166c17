use std::collections::HashSet;

use schemas::command::CommandFailure;
use serde_json::{Value, json};

use super::*;
use crate::service::tests::WriteSide;

/// One of every command, without those that need a payment notice.
fn samples() -> Vec<Command> {
    let (key, email, link) = ("aaaaaaaa", "ada@example.org", "ab".repeat(32));
    let issued = json!({"key_id": key, "hash": "cd".repeat(32), "hint": "0a9Z", "tier": "free"});
    let options = json!({"dry_run": true, "ignore_unknown": false});
    let account = "01K3RA48000000000000000ADA";
    let samples = [
        json!({"select": {"record": {}}}),
        json!({"revise": {"slug": "a", "changes": {}}}),
        json!({"rename": {"slug": "a", "to": "b"}}),
        json!({"withdraw": {"slug": "a", "reason": "sold"}}),
        json!({"restore": {"slug": "a"}}),
        json!({"import": {"lines": [], "options": options}}),
        json!({"attach": {"slug": "a", "picture": {"source": "a.jpg"}, "kept": null}}),
        json!({"erase_picture": {"picture": "0".repeat(64)}}),
        json!({"issue_key": {"email": email, "key": issued}}),
        json!({"revoke_key": {"key_id": key}}),
        json!({"prove_email": {"email": email, "key_ids": []}}),
        json!({"change_tier": {"email": email, "key_ids": [], "tier": "free"}}),
        json!({"erase_account": {"email": email}}),
        json!({"settle_payments": {"account": account}}),
        json!({"move_payments": {"provider": "stripe", "id": "sub_1", "to": email}}),
        json!({"send_link": {"email": email}}),
        json!({"make_link": {"email": email, "link": link}}),
        json!({"open_link": {"link": link}}),
        json!({"use_link": {"link": link, "keep": [], "revoke": [], "new_key": null}}),
        json!({"erase_by_link": {"link": link}}),
    ];
    samples.into_iter().map(|sample: Value| serde_json::from_value(sample).unwrap()).collect()
}

async fn failure(dispatcher: &CommandDispatcher, message: CommandMessage) -> Option<CommandFailure> {
    match dispatcher.execute(message).await {
        CommandReply::Failed(failure) => Some(failure),
        _ => None,
    }
}

#[tokio::test]
async fn every_command_is_executed_by_the_service_that_lists_it() {
    let side = WriteSide::start().await;
    let lanes: Vec<&str> =
        side.commands.lanes().flat_map(|lane| lane.commands).map(|command| command.name).collect();
    assert_eq!(lanes.len(), lanes.iter().collect::<HashSet<_>>().len(), "each has one lane");
    let samples = samples();
    let mut names: Vec<&str> = samples.iter().map(Command::name).collect();
    names.extend(["record_payment", "keep_notice"]);
    assert_eq!(names.iter().collect::<HashSet<_>>(), lanes.iter().collect::<HashSet<_>>());
    for command in samples {
        let name = command.name();
        let failure = failure(&side.commands, side.message(command)).await;
        assert!(
            failure.is_none_or(|failure| !failure.detail.contains("is not a command of this service")
                && !failure.detail.contains("the keeper of the log does")),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_command_of_a_service_that_is_not_registered_names_the_keeper() {
    let side = WriteSide::start().await;
    let commands = CommandDispatcher::new(side.pictures.projects().clone());
    for command in samples() {
        let name = command.name();
        let failure = failure(&commands, side.message(command)).await;
        let kept = match name {
            "select" | "revise" | "rename" | "withdraw" | "restore" | "import" => continue,
            "attach" | "erase_picture" => "pictures",
            _ => "addresses",
        };
        let failure = failure.unwrap();
        let detail = format!(
            "this write side keeps no {kept}; the keeper of the log does, and `loggia store keeper` shows which that is"
        );
        assert_eq!((failure.kind, failure.detail), (FailureKind::Rejected, detail), "{name}");
    }
}
