//! Erasures that a crash interrupts, that are sent again, and that a restored log does not know.

use vault::Erasure;

use super::*;

/// Appends what an erasure appends, as if the process had ended right after it.
async fn append_erased(side: &WriteSide, account: AccountId) {
    side.append(account, "Ada", AccountEvent::AccountErased(schemas::account::AccountErased {})).await;
}

async fn noted(side: &WriteSide) -> Vec<AccountId> {
    side.vault().erasures().await.unwrap().into_iter().map(|erasure| erasure.account).collect()
}

#[tokio::test]
async fn a_start_deletes_an_address_whose_account_is_erased() {
    let side = WriteSide::start().await;
    side.send(issue("a")).await;
    let ada = side.account().await.unwrap();
    side.send(issue_to("bob@example.org".parse().unwrap(), "b")).await;
    append_erased(&side, ada).await;
    assert_eq!(side.account().await, Some(ada));

    let side = side.restart().await;
    assert_eq!((side.account().await, noted(&side).await), (None, vec![ada]));
    assert_eq!(side.vault().emails().await.unwrap().len(), 1, "that of Bob");
    assert_eq!(side.log().await.len(), 5, "nothing was appended");
}

#[tokio::test]
async fn a_start_erases_an_account_whose_erasure_is_only_in_the_journal() {
    let side = WriteSide::start().await;
    side.send(issue("a")).await;
    let ada = side.account().await.unwrap();
    let at = side.clock.now();
    side.vault().record_erasures(vec![Erasure { account: ada, erased_at: at }]).await.unwrap();

    let side = side.restart().await;
    assert_eq!(side.log().await, ["A account_opened", "A key_issued", "A account_erased"]);
    assert_eq!(side.account().await, None);
    let side = side.restart().await;
    assert_eq!(side.log().await.len(), 3, "it is ended once");
}

/// As a version left it that had no journal.
#[tokio::test]
async fn the_journal_is_completed_from_the_log() {
    let side = WriteSide::start().await;
    side.send(issue("a")).await;
    let ada = side.account().await.unwrap();
    side.send(erase()).await;
    std::fs::remove_file(side.folder.path().join("erasures.ndjson")).unwrap();
    let side = side.restart().await;
    assert_eq!(noted(&side).await, [ada]);
}

#[tokio::test]
async fn a_repeated_erasure_gets_the_same_reply_and_erases_no_other_account() {
    let side = WriteSide::start().await;
    side.send(issue("a")).await;
    let message = side.message(erase());
    let reply = side.commands.execute(message.clone()).await;
    assert_eq!(reply, account_reply(&["a free revoked"], 3));
    assert_eq!(side.commands.execute(message.clone()).await, reply, "the address is erased by then");

    side.send(issue("b")).await;
    let second = side.account().await;
    assert_eq!(side.commands.execute(message).await, reply);
    assert_eq!(side.account().await, second, "the address opened another account meanwhile");
    assert_eq!(side.log().await[3..], ["B account_opened", "B key_issued"]);
}

#[tokio::test]
async fn an_address_that_cannot_be_decrypted_is_erased_too() {
    let side = WriteSide::start().await;
    side.send(issue("a")).await;
    let ada = side.account().await.unwrap();
    append_erased(&side, ada).await;
    let mut hand = side.vault_file().await;
    sqlx::query("UPDATE addresses SET sealed = randomblob(60)").execute(&mut hand).await.unwrap();
    sqlx::Connection::close(hand).await.unwrap();
    let side = side.restart().await;
    assert_eq!(side.account().await, None);
}
