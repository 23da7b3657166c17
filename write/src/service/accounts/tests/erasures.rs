//! Erasures that a crash interrupts, that are sent again, and that a restored log does not know.

use event_log::{Append, Expected, NewEvent};
use schemas::event::Event;
use vault::Erasure;

use super::*;

/// Appends what an erasure appends, as if the process had ended right after it.
async fn append_erased(keys: &Keys, account: AccountId) {
    let id = keys.clock.command_id();
    let erased = AccountEvent::AccountErased(schemas::account::AccountErased {});
    let append = Append {
        stream: StreamId::account(account),
        expected: Expected::Any,
        command: id,
        correlation: id,
        actor: "Ada".parse().unwrap(),
        traceparent: None,
        time: keys.clock.now(),
        events: vec![NewEvent { id: keys.clock.event_id(), event: Event::Account(erased) }],
        claims: Vec::new(),
    };
    keys.store.append(append).await.unwrap();
}

/// The same folder after its process ended and began again, as it is once it has started.
async fn restarted(keys: Keys) -> Keys {
    keys.vault().close().await;
    keys.store.close().await;
    let Keys { folder, clock, .. } = keys;
    let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
    let vault = Vault::open(folder.path(), None).await.unwrap();
    let (accounts, commands) = services(&store, &clock, vault);
    PaymentService::new(accounts.clone()).clean_up(&mut false).await.unwrap();
    Keys { folder, store, accounts, commands, clock }
}

async fn noted(keys: &Keys) -> Vec<AccountId> {
    keys.vault().erasures().await.unwrap().into_iter().map(|erasure| erasure.account).collect()
}

#[tokio::test]
async fn a_start_forgets_an_address_whose_account_was_erased() {
    let keys = keys().await;
    keys.send(issue("a")).await;
    let ada = keys.account().await.unwrap();
    keys.send(issue_to("bob@example.org".parse().unwrap(), "b")).await;
    append_erased(&keys, ada).await;
    assert_eq!(keys.account().await, Some(ada));

    let keys = restarted(keys).await;
    assert_eq!((keys.account().await, noted(&keys).await), (None, vec![ada]));
    assert_eq!(keys.vault().emails().await.unwrap().len(), 1, "that of Bob");
    assert_eq!(keys.log().await.len(), 5, "nothing was appended");
}

#[tokio::test]
async fn a_start_ends_an_account_whose_erasure_was_only_noted() {
    let keys = keys().await;
    keys.send(issue("a")).await;
    let ada = keys.account().await.unwrap();
    let at = keys.clock.now();
    keys.vault().note_erasures(vec![Erasure { account: ada, erased_at: at }]).await.unwrap();

    let keys = restarted(keys).await;
    assert_eq!(keys.log().await, ["A account_opened", "A key_issued", "A account_erased"]);
    assert_eq!(keys.account().await, None);
    let keys = restarted(keys).await;
    assert_eq!(keys.log().await.len(), 3, "it is ended once");
}

/// As a version left it that had no journal.
#[tokio::test]
async fn the_journal_is_made_from_the_log() {
    let keys = keys().await;
    keys.send(issue("a")).await;
    let ada = keys.account().await.unwrap();
    keys.send(erase()).await;
    std::fs::remove_file(keys.folder.path().join("erasures.ndjson")).unwrap();
    let keys = restarted(keys).await;
    assert_eq!(noted(&keys).await, [ada]);
}

#[tokio::test]
async fn an_erasure_that_is_sent_again_is_answered_as_it_was_and_ends_no_other_account() {
    let keys = keys().await;
    keys.send(issue("a")).await;
    let message = keys.message(erase());
    let answer = keys.commands.execute(message.clone()).await;
    assert_eq!(answer, told(&["a free revoked"], 3));
    assert_eq!(keys.commands.execute(message.clone()).await, answer, "the address is forgotten by now");

    keys.send(issue("b")).await;
    let second = keys.account().await;
    assert_eq!(keys.commands.execute(message).await, answer);
    assert_eq!(keys.account().await, second, "the address opened another account meanwhile");
    assert_eq!(keys.log().await[3..], ["B account_opened", "B key_issued"]);
}

#[tokio::test]
async fn an_address_that_does_not_open_any_more_is_erased_too() {
    let keys = keys().await;
    keys.send(issue("a")).await;
    let ada = keys.account().await.unwrap();
    append_erased(&keys, ada).await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(keys.folder.path().join("vault.db"));
    let mut hand = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query("UPDATE addresses SET sealed = randomblob(60)").execute(&mut hand).await.unwrap();
    sqlx::Connection::close(hand).await.unwrap();
    let keys = restarted(keys).await;
    assert_eq!(keys.account().await, None);
}
