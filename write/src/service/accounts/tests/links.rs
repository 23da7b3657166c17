//! Links that prove an address: once, in time, and for its own keys only.

use schemas::command::Claim;
use schemas::link::LinkHash;
use vault::{Letter, LetterKind};

use super::*;

const DEAD: &str = "this link cannot be used any more: it was used before, is older than 30 minutes or is not whole; ask \
                    for a new one, and use the newest mail";

fn link() -> LinkHash {
    LinkHash::of("a token that nobody can guess")
}

fn make() -> Command {
    Command::MakeLink { email: email(), link: link() }
}

fn open() -> Command {
    Command::OpenLink { link: link() }
}

fn using(keep: &[&str], revoke: &[&str], new: Option<&str>) -> Command {
    let ids = |letters: &[&str]| letters.iter().map(|letter| id(letter)).collect();
    let new_key = new.map(|letter| match issue(letter) {
        Command::IssueKey { key, .. } => key,
        other => panic!("{other:?}"),
    });
    Command::UseLink { link: link(), keep: ids(keep), revoke: ids(revoke), new_key }
}

/// Two keys under the address, and a link for it.
async fn linked() -> Keys {
    let keys = keys().await;
    keys.send(issue("a")).await;
    keys.send(issue("b")).await;
    let expires_at = time("2026-11-20T09:00:00Z");
    assert_eq!(keys.send(make()).await, CommandReply::Link { expires_at });
    keys
}

impl Keys {
    async fn letter(&self) -> Option<Letter> {
        self.vault().due_letter(self.clock.now()).await.unwrap()
    }
}

#[tokio::test]
async fn a_link_proves_keeps_and_revokes_once() {
    let keys = linked().await;
    assert_eq!(
        keys.send(using(&["a"], &["b"], Some("c"))).await,
        told(&["a free proven", "b free revoked", "c free proven"], 6)
    );
    assert_eq!(keys.log().await[3..], ["A key_revoked", "A key_issued", "A email_proven"]);
    for command in [open(), using(&["a"], &[], None), using(&[], &["a"], None)] {
        assert_eq!(keys.refused(command).await, DEAD);
    }
    assert_eq!(keys.log().await.len(), 6);
}

#[tokio::test]
async fn a_link_that_is_used_too_late_can_still_be_used() {
    let keys = linked().await;
    let message = keys.message(using(&["a"], &[], Some("c")));
    let not_after = Some(keys.clock.now());
    keys.clock.advance(SignedDuration::from_secs(1));
    let answer = keys.commands.execute(CommandMessage { not_after, ..message }).await;
    assert!(
        matches!(&answer, CommandReply::Failed(refusal) if refusal.kind == FailureKind::Unavailable),
        "{answer:?}"
    );
    assert_eq!(keys.log().await.len(), 3);
    let used = keys.send(using(&["a"], &[], Some("c"))).await;
    assert_eq!(used, told(&["a free proven", "c free proven"], 5));
}

#[tokio::test]
async fn looking_at_a_link_changes_nothing() {
    let keys = linked().await;
    let claimed = |letter: &str| ClaimedKey {
        key_id: id(letter),
        hint: "0a9Z".into(),
        name: None,
        created_at: time("2026-11-20T08:30:00Z"),
        tier: "free".parse().unwrap(),
        proven: false,
    };
    let claim = Claim {
        keys: vec![claimed("a"), claimed("b")],
        places: 1,
        replaces: true,
        expires_at: time("2026-11-20T09:00:00Z"),
    };
    for _ in 0..3 {
        assert_eq!(keys.send(open()).await, CommandReply::Claim(claim.clone()));
    }
    assert_eq!(keys.log().await.len(), 3);
    assert_eq!(keys.send(using(&["b"], &[], None)).await, told(&["b free proven"], 4));
}

#[tokio::test]
async fn a_link_ends_after_half_an_hour() {
    let keys = linked().await;
    keys.clock.advance(SignedDuration::from_secs(30 * 60 - 1));
    assert!(matches!(keys.send(open()).await, CommandReply::Claim(_)));
    keys.clock.advance(SignedDuration::from_secs(1));
    for command in [open(), using(&["a"], &[], None)] {
        assert_eq!(keys.refused(command).await, DEAD);
    }
    let unknown = Command::OpenLink { link: LinkHash::of("") };
    assert_eq!(keys.refused(unknown).await, DEAD, "nobody is told that it never was");
}

#[tokio::test]
async fn a_command_that_used_a_link_is_answered_again() {
    let keys = linked().await;
    let message = keys.message(using(&["a"], &["b"], None));
    let answer = keys.commands.execute(message.clone()).await;
    assert_eq!(answer, told(&["a free proven", "b free revoked"], 5));
    keys.send(revoke("a")).await;
    keys.clock.advance(SignedDuration::from_mins(45));
    assert_eq!(keys.commands.execute(message).await, answer, "as it was, though the link is too old by now");
    assert_eq!(keys.log().await.len(), 6);
}

#[tokio::test]
async fn a_crash_between_vault_and_log_leaves_the_link_to_its_command() {
    let keys = linked().await;
    let message = keys.message(using(&["a"], &[], None));
    // As if the process had ended before anything was appended.
    keys.vault().use_link(link(), message.id).await.unwrap();
    keys.clock.advance(SignedDuration::from_mins(31));
    assert_eq!(keys.commands.execute(message).await, told(&["a free proven"], 4));
}

#[tokio::test]
async fn a_link_whose_command_wrote_nothing_can_be_used_again() {
    let keys = linked().await;
    let message = keys.message(using(&["a"], &[], None));
    // As after an append whose outcome was unknown, and which the log does not have.
    keys.vault().use_link(link(), message.id).await.unwrap();
    assert!(matches!(keys.send(open()).await, CommandReply::Claim(_)));
    assert_eq!(keys.send(using(&["b"], &[], None)).await, told(&["b free proven"], 4));
    assert!(
        matches!(keys.commands.execute(message).await, CommandReply::Failed(refusal) if refusal.detail == DEAD),
        "it was used by another one since"
    );
    assert_eq!(keys.refused(open()).await, DEAD);
}

#[tokio::test]
async fn a_link_ends_though_its_use_changed_nothing() {
    let keys = linked().await;
    let message = keys.message(using(&[], &[], None));
    let answer = keys.commands.execute(message.clone()).await;
    assert_eq!(answer, told(&[], 0));
    assert_eq!(keys.refused(using(&["a"], &[], None)).await, DEAD);
    assert_eq!(keys.commands.execute(message).await, answer);
}

#[tokio::test]
async fn what_is_refused_uses_nothing_up() {
    let keys = linked().await;
    keys.send(issue_to("bob@example.org".parse().unwrap(), "q")).await;
    let other = "the key “qqqqqqqq” was not issued under this address; check both";
    assert_eq!(keys.refused(using(&["a", "q"], &[], None)).await, other);
    assert_eq!(keys.refused(using(&["a"], &["q"], None)).await, other);
    let taken = "a key with the id “qqqqqqqq” exists already; make a new key";
    assert_eq!(keys.refused(using(&["a"], &[], Some("q"))).await, taken, "which the log alone knows");
    assert_eq!(keys.log().await.len(), 5);
    assert_eq!(keys.send(using(&["a"], &[], Some("c"))).await, told(&["a free proven", "c free proven"], 7));
}

#[tokio::test]
async fn of_many_who_use_a_link_one_does() {
    let keys = linked().await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (commands, message) = (keys.commands.clone(), keys.message(using(&["a"], &["b"], None)));
        tasks.spawn(async move { commands.execute(message).await });
    }
    let answers = tasks.join_all().await;
    assert_eq!(answers.iter().filter(|answer| matches!(answer, CommandReply::Account(_))).count(), 1);
    assert_eq!(keys.log().await.len(), 5);
}

#[tokio::test]
async fn with_its_account_a_link_ends() {
    let keys = linked().await;
    let account = keys.account().await.unwrap();
    keys.send(erase()).await;
    assert_eq!(keys.refused(open()).await, DEAD);
    assert_eq!(keys.refused(make()).await, Rejection::NoKeys.to_string());

    // As if the process had ended before the vault's row was deleted.
    keys.vault().enter(&email(), account).await.unwrap();
    keys.vault().make_link(account, link(), keys.clock.now()).await.unwrap();
    for command in [open(), using(&[], &[], Some("d"))] {
        assert_eq!(keys.refused(command).await, DEAD);
    }
}

#[tokio::test]
async fn a_victim_gets_a_place_back_that_others_took() {
    let keys = linked().await;
    keys.send(issue("c")).await;
    assert_eq!(
        keys.send(using(&[], &["a", "b", "c"], Some("d"))).await,
        told(&["a free revoked", "b free revoked", "c free revoked", "d free proven"], 9)
    );
    assert!(keys.refused(issue("e")).await.starts_with("there are 3 keys under this address"));
}

#[tokio::test]
async fn asking_for_a_link_is_answered_alike_and_queues_one_letter() {
    let keys = keys().await;
    let ask = |address: &str| Command::SendLink { email: address.parse().unwrap() };
    assert_eq!(keys.send(ask("ada.pelt@example.org")).await, CommandReply::Accepted);
    assert_eq!(keys.letter().await, None, "nobody is known here");
    keys.send(issue("a")).await;
    for address in ["ADA.PELT@example.org", "ada.pelt@example.org", "bob@example.org"] {
        assert_eq!(keys.send(ask(address)).await, CommandReply::Accepted);
    }
    let letter = keys.letter().await.unwrap();
    let account = keys.account().await.unwrap();
    assert_eq!(letter, Letter { account, kind: LetterKind::Proof, queued_at: keys.clock.now(), attempts: 0 });
    keys.vault().letter_mailed(&letter, keys.clock.now()).await.unwrap();
    for (minutes, queued) in [(9, false), (1, true)] {
        keys.clock.advance(SignedDuration::from_mins(minutes));
        assert_eq!(keys.send(ask("ada.pelt@example.org")).await, CommandReply::Accepted);
        assert_eq!(keys.letter().await.is_some(), queued);
    }
    keys.vault().drop_letter(&keys.letter().await.unwrap()).await.unwrap();
    keys.send(revoke("a")).await;
    assert_eq!(keys.send(ask("ada.pelt@example.org")).await, CommandReply::Accepted);
    assert_eq!(keys.letter().await, None, "there is nothing left to prove");
    assert_eq!(keys.log().await.len(), 3, "no letter stands in the log");
}
