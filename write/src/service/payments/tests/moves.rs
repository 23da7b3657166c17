//! Subscriptions that an operator moves to another account.

use schemas::account::{AccountEvent, PaymentsMoved};
use schemas::command::AccountOutcome;
use schemas::ids::{AccountId, StreamId};

use super::*;

const GRACE: &str = "grace@example.org";

impl WriteSide {
    async fn moved(&self, id: &str, to: &str) -> Result<AccountOutcome, String> {
        match self.send(moving(id, to)).await {
            CommandReply::Account(done) => Ok(done),
            CommandReply::Failed(failure) => Err(failure.detail),
            other => panic!("{other:?}"),
        }
    }

    async fn tiers_of_both(&self) -> [Vec<String>; 2] {
        [self.tiers(STUDIO).await, self.tiers(GRACE).await]
    }

    async fn account_of(&self, email: &str) -> AccountId {
        self.vault().account_of(&email.parse().unwrap()).await.unwrap().unwrap()
    }

    /// The notices that count for an address, in the order in which they happened.
    async fn counted(&self, email: &str) -> Vec<String> {
        let account = read_account(&self.store, self.account_of(email).await).await.unwrap();
        let payments = account.payments().map(|payments| payments.recorded().to_vec()).unwrap_or_default();
        payments.iter().map(|payment| payment.event_id.to_string()).collect()
    }
}

fn moving(id: &str, to: &str) -> Command {
    Command::MovePayments { provider: Provider::Stripe, id: id.parse().unwrap(), to: to.parse().unwrap() }
}

/// Two people with a proven key each, of whom the first pays for `studio`.
async fn paid_by_the_first() -> WriteSide {
    let side = WriteSide::start().await;
    side.key(STUDIO, "a", true).await;
    side.key(GRACE, "g", true).await;
    assert_eq!(side.record(&checkout("evt_1", 1)).await, PaymentOutcome::Applied);
    assert_eq!(side.record(&invoice("evt_2", 1, "studio")).await, PaymentOutcome::Applied);
    side
}

#[tokio::test]
async fn a_moved_subscription_takes_its_later_notices_with_it() {
    let side = paid_by_the_first().await;
    let moved = side.moved("cus_1", GRACE).await.unwrap();
    let tiers: Vec<String> = moved.keys.iter().map(|key| format!("{} {}", key.key_id, key.tier)).collect();
    assert_eq!((moved.changed, tiers), (true, vec!["gggggggg studio".to_owned()]));
    assert_eq!(side.tiers_of_both().await, [["free"], ["studio"]]);

    // A repeated notice changes nothing, and a new one is applied, whatever id it names.
    let log = side.kinds().await;
    assert_eq!(side.record(&invoice("evt_2", 1, "studio")).await, PaymentOutcome::AlreadyApplied);
    assert_eq!(side.moved("sub_1", GRACE).await.map(|done| done.changed), Ok(false));
    assert_eq!(side.kinds().await, log);
    let side = side.restart().await;
    assert_eq!(side.kinds().await, log, "nothing was left to finish");
    let pro = PaymentNotice { email: Some(STUDIO.parse().unwrap()), ..invoice("evt_4", 1, "pro") };
    assert_eq!(side.record(&pro).await, PaymentOutcome::Applied, "an id comes before the address");
    assert_eq!(side.tiers_of_both().await, [["free"], ["pro"]]);
    assert_eq!(side.record(&ended("evt_5", 1)).await, PaymentOutcome::Applied);
    assert_eq!(side.tiers(GRACE).await, ["free"]);
    assert_eq!(side.counted(GRACE).await, ["evt_1", "evt_2", "evt_4", "evt_5"]);
    assert_eq!(side.counted(STUDIO).await, Vec::<String>::new());
    assert_eq!(side.store.verify(|_| ()).await.unwrap().err(), None);
}

#[tokio::test]
async fn a_subscription_can_be_moved_back_and_outlives_its_former_account() {
    let side = paid_by_the_first().await;
    side.moved("cus_1", GRACE).await.unwrap();
    assert_eq!(side.record(&invoice("evt_3", 1, "pro")).await, PaymentOutcome::Applied);
    assert_eq!(side.moved("sub_1", STUDIO).await.map(|done| done.changed), Ok(true));
    assert_eq!(side.tiers_of_both().await, [["pro"], ["free"]]);
    assert_eq!(side.moved("sub_1", GRACE).await.map(|done| done.changed), Ok(true));
    side.send(Command::EraseAccount { email: STUDIO.parse().unwrap() }).await;
    assert_eq!(side.record(&notice("evt_6", 9, PaymentKind::Failed, 1)).await, PaymentOutcome::Applied);
    assert_eq!(side.counted(GRACE).await, ["evt_1", "evt_2", "evt_3", "evt_6"]);
    assert_eq!(side.tiers(GRACE).await, ["pro"]);
    let side = side.restart().await;
    side.settlement().settle_due().await;
    assert_eq!(side.tiers(GRACE).await, ["pro"]);
    assert_eq!(side.store.verify(|_| ()).await.unwrap().err(), None);
}

#[tokio::test]
async fn a_repeated_move_gets_the_same_reply() {
    let side = paid_by_the_first().await;
    let unknown = side.moved("in_of_nobody", GRACE).await.unwrap_err();
    assert!(unknown.starts_with("no account has a payment that names “in_of_nobody”; "), "{unknown}");
    let nobody = side.moved("cus_1", "nobody@example.org").await.unwrap_err();
    assert!(nobody.starts_with("there is no account under this address; "), "{nobody}");
    let message = side.message(moving("cus_1", GRACE));
    let first = side.commands.execute(message.clone()).await;
    assert_eq!(side.commands.execute(message).await, first);
    side.send(Command::EraseAccount { email: GRACE.parse().unwrap() }).await;
    let erased = side.moved("cus_1", STUDIO).await.unwrap_err();
    assert!(erased.starts_with("the account of “cus_1” was erased, "), "{erased}");
}

#[tokio::test]
async fn a_move_that_was_interrupted_is_finished_at_the_next_start() {
    let side = paid_by_the_first().await;
    let (from, to) = (side.account_of(STUDIO).await, side.account_of(GRACE).await);
    let moved = PaymentsMoved {
        provider: Provider::Stripe,
        ids: ["cus_1", "sub_1"].map(|id| id.parse().unwrap()).into(),
        event_ids: ["evt_1", "evt_2"].map(|id| id.parse().unwrap()).into(),
        to,
    };
    let command = side.append(from, "operator", AccountEvent::PaymentsMoved(moved)).await;
    let side = side.restart().await;
    side.settlement().settle_due().await;
    assert_eq!(side.tiers_of_both().await, [["free"], ["studio"]]);
    let log = side.store.read_all(Position::START, 1_000).await.unwrap();
    let copies =
        log.iter().filter(|event| event.stream == StreamId::account(to) && event.causation == command);
    assert!(copies.clone().all(|event| event.actor.to_string() == "operator"));
    assert_eq!(copies.count(), 4, "two notices, the entitlement and the key that follows");
    let side = side.restart().await;
    assert_eq!(side.store.read_all(Position::START, 1_000).await.unwrap(), log, "it is finished once");
}
