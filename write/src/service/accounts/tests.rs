mod erasures;
mod links;

use std::sync::Arc;

use event_log::EventLog;
use jiff::SignedDuration;
use schemas::account::KeyIssued;
use schemas::clock::Clock;
use schemas::command::*;
use schemas::ids::{AccountId, StreamId};
use schemas::key::{KeyHash, KeyId};
use tempfile::TempDir;

use super::*;
use crate::service::{CommandDispatcher, PaymentService, ProjectService};

struct Keys {
    folder: TempDir,
    store: Arc<EventLog>,
    accounts: Arc<AccountService>,
    commands: Arc<CommandDispatcher>,
    clock: Clock,
}

async fn keys() -> Keys {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::manual(time("2026-11-20T08:30:00Z")));
    let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
    let vault = Vault::open(folder.path(), None).await.unwrap();
    let (accounts, commands) = services(&store, &clock, vault);
    Keys { folder, store, accounts, commands, clock }
}

/// The services of a write side with accounts.
fn services(
    store: &Arc<EventLog>,
    clock: &Clock,
    vault: Vault,
) -> (Arc<AccountService>, Arc<CommandDispatcher>) {
    let tiers = "free=200, studio=5000".parse().unwrap();
    let accounts = Arc::new(AccountService::new(store.clone(), clock.clone(), vault, tiers));
    let projects = Arc::new(ProjectService::new(store.clone(), clock.clone()));
    let commands = CommandDispatcher::new(projects).register(accounts.clone());
    (accounts, Arc::new(commands))
}

impl Keys {
    fn message(&self, command: Command) -> CommandMessage {
        let id = self.clock.command_id();
        CommandMessage { id, actor: "Ada".parse().unwrap(), correlation: id, command, not_after: None }
    }

    async fn send(&self, command: Command) -> CommandReply {
        self.commands.execute(self.message(command)).await
    }

    async fn refused(&self, command: Command) -> String {
        match self.send(command).await {
            CommandReply::Failed(refusal) if refusal.kind == FailureKind::Rejected => refusal.detail,
            other => panic!("{other:?}"),
        }
    }

    fn vault(&self) -> &Vault {
        self.accounts.vault()
    }

    async fn account(&self) -> Option<AccountId> {
        self.vault().account_of(&email()).await.unwrap()
    }

    /// The kinds of all events, shortly, each with a letter for its stream in the order of their coming.
    async fn log(&self) -> Vec<String> {
        let mut streams: Vec<StreamId> = Vec::new();
        let log = self.store.read_all(Position::START, 1_000).await.unwrap();
        let kinds = log.iter().map(|event| {
            let known = streams.iter().position(|stream| *stream == event.stream);
            let number = known.unwrap_or_else(|| {
                streams.push(event.stream.clone());
                streams.len() - 1
            });
            let kind = event.kind.trim_start_matches("loggia.account.").trim_end_matches(".v1");
            format!("{} {kind}", ["A", "B", "C"][number])
        });
        kinds.collect()
    }

    /// Whether a text stands in any file of the folder.
    fn found(&self, text: &str) -> bool {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        let mut files = files.map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
        files.any(|file| file.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes())))
    }
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn email() -> Email {
    "Ada.Pelt@example.org".parse().unwrap()
}

fn id(letter: &str) -> KeyId {
    letter.repeat(8).parse().unwrap()
}

fn issue_to(email: Email, letter: &str) -> Command {
    let hash = KeyHash::of(letter.as_bytes());
    let (hint, tier) = ("0a9Z".into(), "free".parse().unwrap());
    let key = KeyIssued { key_id: id(letter), hash, hint, name: None, sealed_name: None, tier };
    Command::IssueKey { email, key }
}

fn issue(letter: &str) -> Command {
    issue_to(email(), letter)
}

fn revoke(letter: &str) -> Command {
    Command::RevokeKey { key_id: id(letter) }
}

fn prove() -> Command {
    Command::ProveEmail { email: email(), key_ids: Vec::new() }
}

fn tier(letters: &[&str], tier: &str) -> Command {
    let key_ids = letters.iter().map(|letter| id(letter)).collect();
    Command::ChangeTier { email: email(), key_ids, tier: tier.parse().unwrap() }
}

fn erase() -> Command {
    Command::EraseAccount { email: email() }
}

/// The answer for keys in short, such as `a free proven`.
fn told(keys: &[&str], position: u64) -> CommandReply {
    let key = |text: &&str| {
        let mut words = text.split(' ');
        let (letter, tier) = (words.next().unwrap(), words.next().unwrap());
        let rest: Vec<&str> = words.collect();
        KeyNow {
            key_id: id(letter),
            tier: tier.parse().unwrap(),
            revoked: rest.contains(&"revoked"),
            proven: rest.contains(&"proven"),
        }
    };
    let keys = keys.iter().map(key).collect();
    CommandReply::Account(AccountDone { keys, position: Position(position), changed: position > 0 })
}

#[tokio::test]
async fn the_life_of_an_account() {
    let keys = keys().await;
    assert_eq!(keys.send(issue("a")).await, told(&["a free"], 2));
    assert_eq!(keys.send(issue("b")).await, told(&["b free"], 3));
    assert_eq!(keys.send(prove()).await, told(&["a free proven", "b free proven"], 4));
    assert_eq!(keys.send(prove()).await, told(&["a free proven", "b free proven"], 0));
    assert_eq!(keys.send(tier(&["b"], "studio")).await, told(&["b studio proven"], 5));
    assert_eq!(keys.send(revoke("a")).await, told(&["a free revoked proven"], 6));
    assert_eq!(keys.send(revoke("a")).await, told(&["a free revoked proven"], 0));
    assert_eq!(keys.send(erase()).await, told(&["a free revoked proven", "b studio revoked proven"], 7));
    let kinds = [
        "A account_opened",
        "A key_issued",
        "A key_issued",
        "A email_proven",
        "A tier_changed",
        "A key_revoked",
        "A account_erased",
    ];
    assert_eq!(keys.log().await, kinds);
}

#[tokio::test]
async fn a_command_is_carried_out_once_and_answered_as_it_was() {
    let keys = keys().await;
    let mut sent = Vec::new();
    for command in [issue("a"), issue("b"), prove(), tier(&[], "studio"), revoke("b"), erase()] {
        let message = keys.message(command);
        let answer = keys.commands.execute(message.clone()).await;
        assert!(matches!(&answer, CommandReply::Account(done) if done.changed), "{answer:?}");
        if let Command::EraseAccount { .. } = message.command {
            // As if the process had ended before the vault's row was deleted.
            let stream = keys.store.holder(Namespace::KEY, id("a").as_str()).await.unwrap().unwrap();
            keys.vault().enter(&email(), stream.as_account().unwrap()).await.unwrap();
        }
        assert_eq!(keys.commands.execute(message.clone()).await, answer, "sent again at once");
        sent.push((message, answer));
        if sent.len() < 6 {
            for (message, answer) in &sent {
                assert_eq!(keys.commands.execute(message.clone()).await, *answer, "sent again later");
            }
        }
    }
    assert_eq!(keys.log().await.len(), 7);
    assert_eq!(keys.account().await, None);
}

#[tokio::test]
async fn the_fourth_key_waits_for_the_month_after_a_revocation() {
    let keys = keys().await;
    for letter in ["a", "b", "c"] {
        keys.send(issue(letter)).await;
    }
    assert!(
        keys.refused(issue("d")).await.starts_with("there are 3 keys under this address, and more are not")
    );
    keys.send(revoke("a")).await;
    assert!(keys.refused(issue("d")).await.ends_with("room for another from 2026-12-01 00:00 UTC on"));
    keys.clock.advance(SignedDuration::from_hours(24 * 11));
    assert_eq!(keys.send(issue("d")).await, told(&["d free"], 6));
}

#[tokio::test]
async fn one_of_many_who_want_the_last_place_gets_it() {
    let keys = keys().await;
    for letter in ["a", "b"] {
        keys.send(issue(letter)).await;
    }
    let mut tasks = tokio::task::JoinSet::new();
    for letter in ["c", "d", "e", "f", "g", "h", "i", "j"] {
        let (commands, message) = (keys.commands.clone(), keys.message(issue(letter)));
        tasks.spawn(async move { commands.execute(message).await });
    }
    let answers = tasks.join_all().await;
    assert_eq!(answers.iter().filter(|answer| matches!(answer, CommandReply::Account(_))).count(), 1);
    assert_eq!(keys.log().await.len(), 4);
}

#[tokio::test]
async fn an_address_stands_in_the_vault_alone_and_after_erasure_nowhere() {
    let keys = keys().await;
    keys.send(issue("a")).await;
    let first = keys.account().await.unwrap();
    assert!(!keys.found(email().as_str()), "it is encrypted");
    assert_eq!(keys.vault().email_of(first).await.unwrap(), Some(email()));
    keys.send(erase()).await;
    assert_eq!(keys.account().await, None);
    assert_eq!(keys.send(erase()).await, told(&[], 0), "what is erased can be erased again");

    assert_eq!(keys.send(issue("b")).await, told(&["b free"], 5));
    assert_ne!(keys.account().await, Some(first));
    assert_eq!(keys.log().await[3..], ["B account_opened", "B key_issued"]);
}

#[tokio::test]
async fn a_refused_key_leaves_no_address() {
    let keys = keys().await;
    let Command::IssueKey { email, key } = issue("a") else { panic!() };
    let gold = KeyIssued { tier: "gold".parse().unwrap(), ..key };
    let sentence = keys.refused(Command::IssueKey { email, key: gold }).await;
    assert_eq!(sentence, "there is no tier “gold”; there are free, studio");
    assert_eq!(keys.account().await, None);
    assert_eq!(keys.refused(prove()).await, Rejection::NoKeys.to_string());
    assert_eq!(keys.account().await, None);
}

#[tokio::test]
async fn a_key_that_would_be_shown_to_no_one_is_not_issued() {
    let keys = keys().await;
    let message = keys.message(issue("a"));
    let message = CommandMessage { not_after: Some(keys.clock.now()), ..message };
    assert_eq!(keys.commands.execute(message.clone()).await, told(&["a free"], 2), "in time to the very end");
    keys.clock.advance(SignedDuration::from_secs(1));
    assert_eq!(
        keys.commands.execute(message.clone()).await,
        told(&["a free"], 2),
        "what was done is answered"
    );
    let late = keys.message(issue_to("bob@example.org".parse().unwrap(), "b"));
    let answer = keys.commands.execute(CommandMessage { not_after: message.not_after, ..late }).await;
    let CommandReply::Failed(refusal) = answer else { panic!("{answer:?}") };
    assert_eq!(refusal.kind, FailureKind::Unavailable);
    assert!(refusal.detail.starts_with("the command came after its sender had given up"), "{refusal:?}");
    assert_eq!(keys.log().await, ["A account_opened", "A key_issued"]);
    assert!(!keys.found("bob@example.org"));
    let bob = "bob@example.org".parse().unwrap();
    assert_eq!(keys.vault().account_of(&bob).await.unwrap(), None);
}

#[tokio::test]
async fn what_a_crash_left_in_the_vault_is_used_or_cleared_away() {
    let keys = keys().await;
    let entered = keys.clock.account_id();
    keys.vault().enter(&email(), entered).await.unwrap();
    keys.send(issue("a")).await;
    assert_eq!(keys.account().await, Some(entered), "a row without events is used");

    let erasing = keys.message(erase());
    keys.commands.execute(erasing).await;
    keys.vault().enter(&email(), entered).await.unwrap();
    assert_eq!(keys.refused(tier(&[], "studio")).await, Rejection::NoKeys.to_string());
    assert_eq!(keys.account().await, None, "a row of an erased account is not");
    keys.vault().enter(&email(), entered).await.unwrap();
    assert_eq!(keys.send(issue("b")).await, told(&["b free"], 5));
    assert_ne!(keys.account().await, Some(entered));

    let unused: Email = "bob@example.org".parse().unwrap();
    keys.vault().enter(&unused, keys.clock.account_id()).await.unwrap();
    assert_eq!(keys.send(Command::EraseAccount { email: unused.clone() }).await, told(&[], 0));
    assert_eq!(keys.vault().account_of(&unused).await.unwrap(), None, "nor does an unused address stay");
}

#[tokio::test]
async fn keys_of_others_are_out_of_reach() {
    let keys = keys().await;
    let other = || "bob@example.org".parse().unwrap();
    keys.send(issue("a")).await;
    keys.send(issue_to(other(), "b")).await;
    let taken = "a key with the id “aaaaaaaa” exists already; make a new key";
    assert_eq!(keys.refused(issue_to(other(), "a")).await, taken);
    assert_eq!(keys.refused(issue("a")).await, taken);
    assert_eq!(
        keys.refused(tier(&["b"], "studio")).await,
        "the key “bbbbbbbb” was not issued under this address; check both"
    );
    assert_eq!(
        keys.refused(revoke("q")).await,
        "there is no key “qqqqqqqq”; check its id, the 8 characters behind log_live_"
    );
}

#[tokio::test]
async fn accounts_are_read_from_the_log() {
    let keys = keys().await;
    for letter in ["c", "a"] {
        keys.send(issue(letter)).await;
        keys.clock.advance(SignedDuration::from_secs(1));
    }
    let ada = keys.account().await.unwrap();
    keys.send(issue_to("bob@example.org".parse().unwrap(), "b")).await;
    keys.send(erase()).await;
    let accounts = read_accounts(&keys.store).await.unwrap();
    let shown: Vec<Vec<&str>> = accounts
        .iter()
        .map(|(_, account)| account.keys().iter().map(|key| key.issued.key_id.as_str()).collect())
        .collect();
    assert_eq!(shown, [vec!["cccccccc", "aaaaaaaa"], vec!["bbbbbbbb"]]);
    assert_eq!(accounts[0], (ada, read_account(&keys.store, ada).await.unwrap()));
    assert!(matches!(&accounts[0].1, Account::Erased(keys) if keys.len() == 2));
    assert_eq!(read_account(&keys.store, keys.clock.account_id()).await.unwrap(), Account::Absent);
}

#[tokio::test]
async fn a_write_side_without_accounts_names_the_keeper() {
    let keys = keys().await;
    let projects = ProjectService::new(keys.store.clone(), keys.clock.clone());
    let commands = CommandDispatcher::new(Arc::new(projects));
    let answer = commands.execute(keys.message(issue("a"))).await;
    let CommandReply::Failed(refusal) = answer else { panic!("{answer:?}") };
    assert_eq!(
        (refusal.kind, refusal.detail.as_str()),
        (
            FailureKind::Rejected,
            "this write side keeps no addresses; the keeper of the log does, and `loggia store keeper` shows which that is"
        )
    );
}
