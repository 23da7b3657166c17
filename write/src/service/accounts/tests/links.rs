//! Links that prove an address: once, in time, and for its own keys only.

use schemas::command::LinkDetails;
use schemas::link::LinkHash;
use vault::{MessageKind, OutboxMessage};

use super::*;

const DEAD: &str = "this link cannot be used any more: it was used before, is older than 30 minutes or is incomplete; \
                    request a new one and use the latest email";

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
    Command::UseLink { link: link(), keep: ids(keep), revoke: ids(revoke), new_key: new.map(key) }
}

/// Two keys under the address, and a link for it.
async fn linked() -> WriteSide {
    let side = WriteSide::start().await;
    side.send(issue("a")).await;
    side.send(issue("b")).await;
    let expires_at = time("2026-11-20T09:00:00Z");
    assert_eq!(side.send(make()).await, CommandReply::Link { expires_at });
    side
}

impl WriteSide {
    async fn letter(&self) -> Option<OutboxMessage> {
        self.vault().due_message(self.clock.now()).await.unwrap()
    }
}

#[tokio::test]
async fn a_link_proves_keeps_and_revokes_once() {
    let side = linked().await;
    assert_eq!(
        side.send(using(&["a"], &["b"], Some("c"))).await,
        account_reply(&["a free proven", "b free revoked", "c free proven"], 6)
    );
    assert_eq!(side.log().await[3..], ["A key_revoked", "A key_issued", "A email_proven"]);
    for command in [open(), using(&["a"], &[], None), using(&[], &["a"], None)] {
        assert_eq!(side.refused(command).await, DEAD);
    }
    assert_eq!(side.log().await.len(), 6);
}

#[tokio::test]
async fn a_link_can_be_used_again_after_a_command_that_missed_its_deadline() {
    let side = linked().await;
    let message = side.message(using(&["a"], &[], Some("c")));
    let not_after = Some(side.clock.now());
    side.clock.advance(SignedDuration::from_secs(1));
    let reply = side.commands.execute(CommandMessage { not_after, ..message }).await;
    assert!(
        matches!(&reply, CommandReply::Failed(failure) if failure.kind == FailureKind::Unavailable),
        "{reply:?}"
    );
    assert_eq!(side.log().await.len(), 3);
    let used = side.send(using(&["a"], &[], Some("c"))).await;
    assert_eq!(used, account_reply(&["a free proven", "c free proven"], 5));
}

#[tokio::test]
async fn opening_a_link_changes_nothing() {
    let side = linked().await;
    let claimed = |letter: &str| LinkKey {
        key_id: id(letter),
        hint: "0a9Z".into(),
        name: None,
        created_at: time("2026-11-20T08:30:00Z"),
        tier: "free".parse().unwrap(),
        proven: false,
    };
    let claim = LinkDetails {
        keys: vec![claimed("a"), claimed("b")],
        places: 1,
        replaces: true,
        expires_at: time("2026-11-20T09:00:00Z"),
    };
    for _ in 0..3 {
        assert_eq!(side.send(open()).await, CommandReply::LinkDetails(claim.clone()));
    }
    assert_eq!(side.log().await.len(), 3);
    assert_eq!(side.send(using(&["b"], &[], None)).await, account_reply(&["b free proven"], 4));
}

#[tokio::test]
async fn a_link_expires_after_half_an_hour() {
    let side = linked().await;
    side.clock.advance(SignedDuration::from_secs(30 * 60 - 1));
    assert!(matches!(side.send(open()).await, CommandReply::LinkDetails(_)));
    side.clock.advance(SignedDuration::from_secs(1));
    for command in [open(), using(&["a"], &[], None)] {
        assert_eq!(side.refused(command).await, DEAD);
    }
    let unknown = Command::OpenLink { link: LinkHash::of("") };
    assert_eq!(side.refused(unknown).await, DEAD, "the answer does not reveal that it never existed");
}

#[tokio::test]
async fn a_command_that_used_a_link_gets_its_reply_again() {
    let side = linked().await;
    let message = side.message(using(&["a"], &["b"], None));
    let reply = side.commands.execute(message.clone()).await;
    assert_eq!(reply, account_reply(&["a free proven", "b free revoked"], 5));
    side.send(revoke("a")).await;
    side.clock.advance(SignedDuration::from_mins(45));
    assert_eq!(side.commands.execute(message).await, reply, "as it was, though the link is too old by now");
    assert_eq!(side.log().await.len(), 6);
}

#[tokio::test]
async fn after_a_crash_between_vault_and_log_the_command_can_use_its_link_again() {
    let side = linked().await;
    let message = side.message(using(&["a"], &[], None));
    // As if the process had ended before anything was appended.
    side.vault().mark_link_used(link(), message.id).await.unwrap();
    side.clock.advance(SignedDuration::from_mins(31));
    assert_eq!(side.commands.execute(message).await, account_reply(&["a free proven"], 4));
}

#[tokio::test]
async fn a_link_whose_command_appended_nothing_can_be_used_again() {
    let side = linked().await;
    let message = side.message(using(&["a"], &[], None));
    // As after an append whose outcome was unknown, and which the log does not have.
    side.vault().mark_link_used(link(), message.id).await.unwrap();
    assert!(matches!(side.send(open()).await, CommandReply::LinkDetails(_)));
    assert_eq!(side.send(using(&["b"], &[], None)).await, account_reply(&["b free proven"], 4));
    assert!(
        matches!(side.commands.execute(message).await, CommandReply::Failed(failure) if failure.detail == DEAD),
        "it was used by another one since"
    );
    assert_eq!(side.refused(open()).await, DEAD);
}

#[tokio::test]
async fn a_link_is_used_up_even_if_nothing_changes() {
    let side = linked().await;
    let message = side.message(using(&[], &[], None));
    let reply = side.commands.execute(message.clone()).await;
    assert_eq!(reply, account_reply(&[], 0));
    assert_eq!(side.refused(using(&["a"], &[], None)).await, DEAD);
    assert_eq!(side.commands.execute(message).await, reply);
}

#[tokio::test]
async fn a_rejected_use_does_not_use_up_the_link() {
    let side = linked().await;
    side.send(issue_to("bob@example.org".parse().unwrap(), "q")).await;
    let other = "the key “qqqqqqqq” was not issued under this address; check both";
    assert_eq!(side.refused(using(&["a", "q"], &[], None)).await, other);
    assert_eq!(side.refused(using(&["a"], &["q"], None)).await, other);
    let taken = "a key with the id “qqqqqqqq” exists already; make a new key";
    assert_eq!(side.refused(using(&["a"], &[], Some("q"))).await, taken, "which the log alone knows");
    assert_eq!(side.log().await.len(), 5);
    assert_eq!(
        side.send(using(&["a"], &[], Some("c"))).await,
        account_reply(&["a free proven", "c free proven"], 7)
    );
}

#[tokio::test]
async fn one_of_many_concurrent_uses_of_a_link_succeeds() {
    let side = linked().await;
    let messages = (0..8).map(|_| side.message(using(&["a"], &["b"], None)));
    let replies = side.at_once(messages.collect()).await;
    assert_eq!(replies.iter().filter(|reply| matches!(reply, CommandReply::Account(_))).count(), 1);
    assert_eq!(side.log().await.len(), 5);
}

#[tokio::test]
async fn a_link_is_erased_with_its_account() {
    let side = linked().await;
    let account = side.account().await.unwrap();
    side.send(erase()).await;
    assert_eq!(side.refused(open()).await, DEAD);
    assert_eq!(side.refused(make()).await, Rejection::NoKeys.to_string());

    // As if the process had ended before the vault's row was deleted.
    side.vault().add_address(&email(), account).await.unwrap();
    side.vault().create_link(account, link(), side.clock.now()).await.unwrap();
    for command in [open(), using(&[], &[], Some("d"))] {
        assert_eq!(side.refused(command).await, DEAD);
    }
}

#[tokio::test]
async fn the_owner_gets_a_key_though_others_used_up_the_limit() {
    let side = linked().await;
    side.send(issue("c")).await;
    assert_eq!(
        side.send(using(&[], &["a", "b", "c"], Some("d"))).await,
        account_reply(&["a free revoked", "b free revoked", "c free revoked", "d free proven"], 9)
    );
    assert!(side.refused(issue("e")).await.starts_with("this address already has 3 keys"));
}

#[tokio::test]
async fn every_request_for_a_link_gets_the_same_reply_and_one_mail_is_queued() {
    let side = WriteSide::start().await;
    let ask = |address: &str| Command::SendLink { email: address.parse().unwrap() };
    assert_eq!(side.send(ask("ada.pelt@example.org")).await, CommandReply::Accepted);
    assert_eq!(side.letter().await, None, "no address is known here");
    side.send(issue("a")).await;
    for address in ["ADA.PELT@example.org", "ada.pelt@example.org", "bob@example.org"] {
        assert_eq!(side.send(ask(address)).await, CommandReply::Accepted);
    }
    let letter = side.letter().await.unwrap();
    let account = side.account().await.unwrap();
    assert_eq!(
        letter,
        OutboxMessage { account, kind: MessageKind::Proof, queued_at: side.clock.now(), attempts: 0 }
    );
    side.vault().message_sent(&letter, side.clock.now()).await.unwrap();
    for (minutes, queued) in [(9, false), (1, true)] {
        side.clock.advance(SignedDuration::from_mins(minutes));
        assert_eq!(side.send(ask("ada.pelt@example.org")).await, CommandReply::Accepted);
        assert_eq!(side.letter().await.is_some(), queued);
    }
    side.vault().drop_message(&side.letter().await.unwrap()).await.unwrap();
    side.send(revoke("a")).await;
    assert_eq!(side.send(ask("ada.pelt@example.org")).await, CommandReply::Accepted);
    assert_eq!(side.letter().await, None, "there is nothing left to prove");
    assert_eq!(side.log().await.len(), 3, "no mail is in the log");
}

#[tokio::test]
async fn a_link_erases_its_account_once() {
    let side = linked().await;
    let command = || Command::EraseByLink { link: link() };
    let erasing = side.message(command());
    let expected = account_reply(&["a free revoked", "b free revoked"], 4);
    assert_eq!(side.commands.execute(erasing.clone()).await, expected);
    assert_eq!(side.log().await[3..], ["A account_erased"]);
    assert_eq!(side.account().await, None, "the address is deleted");
    // The same command may be sent again, and no other can use the link.
    assert_eq!(side.commands.execute(erasing).await, expected);
    for command in [command(), open(), using(&["a"], &[], None)] {
        assert_eq!(side.refused(command).await, DEAD);
    }
    // The address may come back, with an account of its own, which the former link does not reach.
    side.send(issue("c")).await;
    assert_eq!(side.refused(command()).await, DEAD);
    assert_eq!(side.log().await.len(), 6);
}

#[tokio::test]
async fn an_old_link_erases_nothing() {
    let side = linked().await;
    side.clock.advance(SignedDuration::from_mins(30));
    assert_eq!(side.refused(Command::EraseByLink { link: link() }).await, DEAD);
    assert_eq!(side.log().await.len(), 3);
}
