mod erasures;
mod links;

use jiff::SignedDuration;
use schemas::account::KeyIssued;
use schemas::command::*;
use schemas::ids::{AccountId, StreamId};

use super::*;
use crate::account::scenario::{id, key};
use crate::service::tests::WriteSide;

impl WriteSide {
    async fn refused(&self, command: Command) -> String {
        match self.send(command).await {
            CommandReply::Failed(failure) if failure.kind == FailureKind::Rejected => failure.detail,
            other => panic!("{other:?}"),
        }
    }

    async fn account(&self) -> Option<AccountId> {
        self.vault().account_of(&email()).await.unwrap()
    }

    /// Returns the types of all events, shortened, each with a letter for its stream.
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

    fn found(&self, text: &str) -> bool {
        kit::any_file_contains(self.folder.path(), text)
    }
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn email() -> Email {
    "Ada.Pelt@example.org".parse().unwrap()
}

fn issue_to(email: Email, letter: &str) -> Command {
    Command::IssueKey { email, key: key(letter) }
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

/// Returns the reply with these keys, each as `a free proven`.
fn account_reply(keys: &[&str], position: u64) -> CommandReply {
    let key = |text: &&str| {
        let mut words = text.split(' ');
        let (letter, tier) = (words.next().unwrap(), words.next().unwrap());
        let rest: Vec<&str> = words.collect();
        CurrentKey {
            key_id: id(letter),
            tier: tier.parse().unwrap(),
            revoked: rest.contains(&"revoked"),
            proven: rest.contains(&"proven"),
        }
    };
    let keys = keys.iter().map(key).collect();
    CommandReply::Account(AccountOutcome { keys, position: Position(position), changed: position > 0 })
}

#[tokio::test]
async fn an_account_is_opened_changed_and_erased() {
    let side = WriteSide::start().await;
    assert_eq!(side.send(issue("a")).await, account_reply(&["a free"], 2));
    assert_eq!(side.send(issue("b")).await, account_reply(&["b free"], 3));
    assert_eq!(side.send(prove()).await, account_reply(&["a free proven", "b free proven"], 4));
    assert_eq!(side.send(prove()).await, account_reply(&["a free proven", "b free proven"], 0));
    assert_eq!(side.send(tier(&["b"], "studio")).await, account_reply(&["b studio proven"], 5));
    assert_eq!(side.send(revoke("a")).await, account_reply(&["a free revoked proven"], 6));
    assert_eq!(side.send(revoke("a")).await, account_reply(&["a free revoked proven"], 0));
    assert_eq!(
        side.send(erase()).await,
        account_reply(&["a free revoked proven", "b studio revoked proven"], 7)
    );
    let kinds = [
        "A account_opened",
        "A key_issued",
        "A key_issued",
        "A email_proven",
        "A tier_changed",
        "A key_revoked",
        "A account_erased",
    ];
    assert_eq!(side.log().await, kinds);
}

#[tokio::test]
async fn a_repeated_command_is_executed_once_and_gets_the_same_reply() {
    let side = WriteSide::start().await;
    let mut sent = Vec::new();
    for command in [issue("a"), issue("b"), prove(), tier(&[], "studio"), revoke("b"), erase()] {
        let message = side.message(command);
        let reply = side.commands.execute(message.clone()).await;
        assert!(matches!(&reply, CommandReply::Account(done) if done.changed), "{reply:?}");
        if let Command::EraseAccount { .. } = message.command {
            // As if the process had ended before the vault's row was deleted.
            let stream = side.store.holder(Namespace::KEY, id("a").as_str()).await.unwrap().unwrap();
            side.vault().add_address(&email(), stream.as_account().unwrap()).await.unwrap();
        }
        assert_eq!(side.commands.execute(message.clone()).await, reply, "sent again at once");
        sent.push((message, reply));
        if sent.len() < 6 {
            for (message, reply) in &sent {
                assert_eq!(side.commands.execute(message.clone()).await, *reply, "sent again later");
            }
        }
    }
    assert_eq!(side.log().await.len(), 7);
    assert_eq!(side.account().await, None);
}

#[tokio::test]
async fn a_fourth_key_is_issued_in_the_month_after_a_revocation() {
    let side = WriteSide::start().await;
    for letter in ["a", "b", "c"] {
        side.send(issue(letter)).await;
    }
    assert!(
        side.refused(issue("d")).await.starts_with("this address already has 3 keys; if you revoke one now")
    );
    side.send(revoke("a")).await;
    assert!(side.refused(issue("d")).await.ends_with("you can create another from 1 December (UTC)"));
    side.clock.advance(SignedDuration::from_hours(24 * 11));
    assert_eq!(side.send(issue("d")).await, account_reply(&["d free"], 6));
}

#[tokio::test]
async fn one_of_many_concurrent_commands_gets_the_last_key() {
    let side = WriteSide::start().await;
    for letter in ["a", "b"] {
        side.send(issue(letter)).await;
    }
    let messages = ["c", "d", "e", "f", "g", "h", "i", "j"].map(|letter| side.message(issue(letter)));
    let replies = side.at_once(messages.into()).await;
    assert_eq!(replies.iter().filter(|reply| matches!(reply, CommandReply::Account(_))).count(), 1);
    assert_eq!(side.log().await.len(), 4);
}

#[tokio::test]
async fn an_address_is_only_in_the_vault_and_nowhere_after_its_erasure() {
    let side = WriteSide::start().await;
    side.send(issue("a")).await;
    let first = side.account().await.unwrap();
    assert!(!side.found(email().as_str()), "it is encrypted");
    assert_eq!(side.vault().email_of(first).await.unwrap(), Some(email()));
    side.send(erase()).await;
    assert_eq!(side.account().await, None);
    assert_eq!(side.send(erase()).await, account_reply(&[], 0), "what is erased can be erased again");

    assert_eq!(side.send(issue("b")).await, account_reply(&["b free"], 5));
    assert_ne!(side.account().await, Some(first));
    assert_eq!(side.log().await[3..], ["B account_opened", "B key_issued"]);
}

#[tokio::test]
async fn a_rejected_key_leaves_no_address() {
    let side = WriteSide::start().await;
    let Command::IssueKey { email, key } = issue("a") else { panic!() };
    let gold = KeyIssued { tier: "gold".parse().unwrap(), ..key };
    let sentence = side.refused(Command::IssueKey { email, key: gold }).await;
    assert_eq!(sentence, "there is no tier “gold”; there are free, studio, pro");
    assert_eq!(side.account().await, None);
    assert_eq!(side.refused(prove()).await, Rejection::NoKeys.to_string());
    assert_eq!(side.account().await, None);
}

#[tokio::test]
async fn a_key_is_not_issued_after_its_deadline() {
    let side = WriteSide::start().await;
    let message = side.message(issue("a"));
    let message = CommandMessage { not_after: Some(side.clock.now()), ..message };
    assert_eq!(
        side.commands.execute(message.clone()).await,
        account_reply(&["a free"], 2),
        "in time to the very end"
    );
    side.clock.advance(SignedDuration::from_secs(1));
    assert_eq!(
        side.commands.execute(message.clone()).await,
        account_reply(&["a free"], 2),
        "what was done is answered"
    );
    let late = side.message(issue_to("bob@example.org".parse().unwrap(), "b"));
    let reply = side.commands.execute(CommandMessage { not_after: message.not_after, ..late }).await;
    let CommandReply::Failed(failure) = reply else { panic!("{reply:?}") };
    assert_eq!(failure.kind, FailureKind::Unavailable);
    assert!(failure.detail.starts_with("the command came after its sender had given up"), "{failure:?}");
    assert_eq!(side.log().await, ["A account_opened", "A key_issued"]);
    assert!(!side.found("bob@example.org"));
    let bob = "bob@example.org".parse().unwrap();
    assert_eq!(side.vault().account_of(&bob).await.unwrap(), None);
}

#[tokio::test]
async fn an_address_that_a_crash_left_in_the_vault_is_used_or_deleted() {
    let side = WriteSide::start().await;
    let entered = side.clock.account_id();
    side.vault().add_address(&email(), entered).await.unwrap();
    side.send(issue("a")).await;
    assert_eq!(side.account().await, Some(entered), "a row without events is used");

    let erasing = side.message(erase());
    side.commands.execute(erasing).await;
    side.vault().add_address(&email(), entered).await.unwrap();
    assert_eq!(side.refused(tier(&[], "studio")).await, Rejection::NoKeys.to_string());
    assert_eq!(side.account().await, None, "a row of an erased account is not");
    side.vault().add_address(&email(), entered).await.unwrap();
    assert_eq!(side.send(issue("b")).await, account_reply(&["b free"], 5));
    assert_ne!(side.account().await, Some(entered));

    let unused: Email = "bob@example.org".parse().unwrap();
    side.vault().add_address(&unused, side.clock.account_id()).await.unwrap();
    assert_eq!(side.send(Command::EraseAccount { email: unused.clone() }).await, account_reply(&[], 0));
    assert_eq!(side.vault().account_of(&unused).await.unwrap(), None, "nor does an unused address stay");
}

#[tokio::test]
async fn a_link_cannot_change_keys_of_other_addresses() {
    let side = WriteSide::start().await;
    let other = || "bob@example.org".parse().unwrap();
    side.send(issue("a")).await;
    side.send(issue_to(other(), "b")).await;
    let taken = "a key with the id “aaaaaaaa” exists already; make a new key";
    assert_eq!(side.refused(issue_to(other(), "a")).await, taken);
    assert_eq!(side.refused(issue("a")).await, taken);
    assert_eq!(
        side.refused(tier(&["b"], "studio")).await,
        "the key “bbbbbbbb” was not issued under this address; check both"
    );
    assert_eq!(
        side.refused(revoke("q")).await,
        "there is no key “qqqqqqqq”; check its id, the 8 characters after log_live_"
    );
}

#[tokio::test]
async fn accounts_are_read_from_the_log() {
    let side = WriteSide::start().await;
    for letter in ["c", "a"] {
        side.send(issue(letter)).await;
        side.clock.advance(SignedDuration::from_secs(1));
    }
    let ada = side.account().await.unwrap();
    side.send(issue_to("bob@example.org".parse().unwrap(), "b")).await;
    side.send(erase()).await;
    let accounts = read_accounts(&side.store).await.unwrap();
    let shown: Vec<Vec<&str>> = accounts
        .iter()
        .map(|(_, account)| account.keys().iter().map(|key| key.issued.key_id.as_str()).collect())
        .collect();
    assert_eq!(shown, [vec!["cccccccc", "aaaaaaaa"], vec!["bbbbbbbb"]]);
    assert_eq!(accounts[0], (ada, read_account(&side.store, ada).await.unwrap()));
    assert!(matches!(&accounts[0].1, Account::Erased(keys) if keys.len() == 2));
    assert_eq!(read_account(&side.store, side.clock.account_id()).await.unwrap(), Account::Absent);
}
