use health::Health;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use schemas::command::{Command, CommandReply};
use schemas::payment::{KeptReason, PaymentKind, PaymentRecorded, Provider};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::account::scenario::{self, id, key};
use crate::service::read_account;
use crate::service::tests::WriteSide;

mod damaged;
mod moves;

const STUDIO: &str = "ada@example.org";

impl WriteSide {
    async fn record(&self, notice: &PaymentNotice) -> PaymentOutcome {
        match self.send(Command::RecordPayment { notice: notice.clone() }).await {
            CommandReply::Payment(done) => done.outcome,
            other => panic!("{other:?}"),
        }
    }

    /// Issues a key for an address, and proves it if `proven`.
    async fn key(&self, email: &str, letter: &str, proven: bool) {
        self.send(Command::IssueKey { email: email.parse().unwrap(), key: key(letter) }).await;
        if proven {
            self.send(Command::ProveEmail { email: email.parse().unwrap(), key_ids: vec![id(letter)] }).await;
        }
    }

    /// The tiers of an address's keys.
    async fn tiers(&self, email: &str) -> Vec<String> {
        let Some(account) = self.vault().account_of(&email.parse().unwrap()).await.unwrap() else {
            return Vec::new();
        };
        let account = read_account(&self.store, account).await.unwrap();
        account.keys().iter().map(|key| key.tier.to_string()).collect()
    }

    async fn kinds(&self) -> Vec<String> {
        let log = self.store.read_all(Position::START, 1_000).await.unwrap();
        let short =
            |kind: &str| kind.trim_start_matches("loggia.account.").trim_end_matches(".v1").to_owned();
        log.iter().map(|event| short(&event.kind)).collect()
    }

    fn settlement(&self) -> Settlement {
        Settlement::new(self.payments.clone(), self.commands.clone())
    }
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A notice of the subscription and customer of this number, created this number of seconds after 8:00.
fn notice(event: &str, seconds: i64, kind: PaymentKind, number: u8) -> PaymentNotice {
    let payment = PaymentRecorded {
        created: time("2026-11-20T08:00:00Z") + SignedDuration::from_secs(seconds),
        subscription: Some(format!("sub_{number}").parse().unwrap()),
        customer: Some(format!("cus_{number}").parse().unwrap()),
        ..scenario::notice(event, 20, kind)
    };
    PaymentNotice { email: None, payment }
}

/// A checkout, which names address, customer and subscription.
fn checkout(event: &str, number: u8) -> PaymentNotice {
    let email = if number == 1 { STUDIO } else { "bob@example.org" };
    PaymentNotice { email: Some(email.parse().unwrap()), ..notice(event, 1, PaymentKind::Paid, number) }
}

/// An invoice that names only its subscription, and pays until the 20th of December.
fn invoice(event: &str, number: u8, tier: &str) -> PaymentNotice {
    let PaymentNotice { email, payment } = notice(event, 2, PaymentKind::Paid, number);
    let (tier, period_end) = (Some(tier.parse().unwrap()), Some(time("2026-12-20T08:00:00Z")));
    PaymentNotice { email, payment: PaymentRecorded { customer: None, tier, period_end, ..payment } }
}

/// The end of a subscription.
fn ended(event: &str, number: u8) -> PaymentNotice {
    let PaymentNotice { email, payment } = notice(event, 3, PaymentKind::Ended, number);
    let period_end = Some(time("2026-11-20T08:00:00Z"));
    PaymentNotice { email, payment: PaymentRecorded { period_end, ..payment } }
}

#[tokio::test]
async fn a_payment_raises_proven_keys_until_its_period_ends() {
    let side = WriteSide::start().await;
    side.key(STUDIO, "a", true).await;
    side.key(STUDIO, "b", false).await;
    assert_eq!(side.record(&checkout("evt_1", 1)).await, PaymentOutcome::Applied);
    assert_eq!(side.record(&invoice("evt_2", 1, "studio")).await, PaymentOutcome::Applied);
    assert_eq!(side.tiers(STUDIO).await, ["studio", "free"]);
    assert!(side.vault().due_message(side.clock.now()).await.unwrap().is_some(), "one key is not proven");

    side.send(Command::ProveEmail { email: STUDIO.parse().unwrap(), key_ids: Vec::new() }).await;
    assert_eq!(side.tiers(STUDIO).await, ["studio", "studio"]);
    side.clock.advance(SignedDuration::from_hours(24 * 30));
    side.settlement().settle_due().await;
    assert_eq!(side.tiers(STUDIO).await, ["free", "free"]);
    let log = side.kinds().await;
    side.settlement().settle_due().await;
    assert_eq!(side.kinds().await, log, "it is ended only once");
    let expected = [
        "account_opened",
        "key_issued",
        "email_proven",
        "key_issued",
        "payment_recorded",
        "payment_recorded",
        "entitlement_changed",
        "tier_changed",
        "email_proven",
        "tier_changed",
        "entitlement_changed",
        "tier_changed",
    ];
    assert_eq!(log, expected);
}

#[tokio::test]
async fn a_period_that_a_fast_clock_ended_runs_again_when_the_clock_is_set_back() {
    let side = WriteSide::start().await;
    side.key(STUDIO, "a", true).await;
    assert_eq!(side.record(&checkout("evt_1", 1)).await, PaymentOutcome::Applied);
    assert_eq!(side.record(&invoice("evt_2", 1, "studio")).await, PaymentOutcome::Applied);
    let mut latest = side.clock.now();
    side.clock.advance(SignedDuration::from_hours(24 * 365));
    side.payments.follow_clock(&mut latest).await.unwrap();
    side.settlement().settle_due().await;
    assert_eq!(side.tiers(STUDIO).await, ["free"]);
    side.clock.advance(-SignedDuration::from_hours(24 * 365));
    side.payments.follow_clock(&mut latest).await.unwrap();
    side.settlement().settle_due().await;
    assert_eq!(side.tiers(STUDIO).await, ["studio"]);
}

#[tokio::test]
async fn a_period_that_ends_while_the_process_is_down_is_settled_at_the_next_start() {
    let side = WriteSide::start().await;
    side.key(STUDIO, "a", true).await;
    side.record(&checkout("evt_1", 1)).await;
    side.record(&invoice("evt_2", 1, "pro")).await;
    let side = side.restart().await;
    side.settlement().settle_due().await;
    assert_eq!(side.tiers(STUDIO).await, ["pro"]);
    side.clock.advance(SignedDuration::from_hours(24 * 30));
    let side = side.restart().await;
    side.settlement().settle_due().await;
    assert_eq!(side.tiers(STUDIO).await, ["free"]);
}

#[tokio::test]
async fn the_worker_settles_accounts_when_their_periods_end() {
    let side = WriteSide::start().await;
    let stop = CancellationToken::new();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(side.settlement().run(stop.clone(), Health::default().component("payments")));
    side.key(STUDIO, "a", true).await;
    side.clock.advance(SignedDuration::from_hours(24 * 30));
    // The paid period is over when the notice arrives: the tier is raised and lowered at once.
    side.record(&checkout("evt_1", 1)).await;
    side.record(&invoice("evt_2", 1, "pro")).await;
    kit::wait_until(kit::TIMEOUT, "the end", async || side.tiers(STUDIO).await == ["free"]).await;
    stop.cancel();
    tasks.join_next().await.unwrap().unwrap();
}

#[tokio::test]
async fn a_settlement_that_fails_is_a_failing_component() {
    let side = WriteSide::start().await;
    let (stop, health) = (CancellationToken::new(), Health::default());
    let mut tasks = tokio::task::JoinSet::new();
    side.store.close().await;
    tasks.spawn(side.settlement().run(stop.clone(), health.component("payments")));
    let failing = kit::wait_for(kit::TIMEOUT, "a report", async || {
        health.failing().pop().map(|failing| (failing.component, failing.reason))
    })
    .await;
    assert_eq!(failing.0, "payments");
    assert!(failing.1.starts_with("payments cannot be read from the log: "), "{}", failing.1);
    stop.cancel();
    tasks.join_next().await.unwrap().unwrap();
}

#[tokio::test]
async fn each_notice_is_applied_once_however_often_it_is_sent() {
    let side = WriteSide::start().await;
    side.key(STUDIO, "a", true).await;
    let message = side.message(Command::RecordPayment { notice: checkout("evt_1", 1) });
    let first = side.commands.execute(message.clone()).await;
    assert_eq!(side.commands.execute(message).await, first, "the same command is answered as it was");
    let log = side.kinds().await;
    for _ in 0..10 {
        assert_eq!(side.record(&checkout("evt_1", 1)).await, PaymentOutcome::AlreadyApplied);
    }
    let side = side.restart().await;
    assert_eq!(
        side.record(&checkout("evt_1", 2)).await,
        PaymentOutcome::AlreadyApplied,
        "even with other content"
    );
    assert_eq!(side.kinds().await, log);
}

#[tokio::test]
async fn a_notice_without_an_account_waits_across_restarts() {
    let side = WriteSide::start().await;
    side.key(STUDIO, "a", true).await;
    assert_eq!(side.record(&invoice("evt_2", 1, "studio")).await, PaymentOutcome::Waiting);
    assert_eq!(side.record(&ended("evt_3", 1)).await, PaymentOutcome::Waiting);
    assert_eq!(side.record(&ended("evt_3", 1)).await, PaymentOutcome::Waiting);
    assert_eq!(side.vault().waiting_notices().await.unwrap().len(), 2);
    let side = side.restart().await;
    assert_eq!(side.record(&checkout("evt_1", 1)).await, PaymentOutcome::Applied);
    assert_eq!(side.vault().waiting_notices().await.unwrap(), []);
    assert_eq!(side.tiers(STUDIO).await, ["free"], "it has ended already");
    assert_eq!(side.record(&ended("evt_3", 1)).await, PaymentOutcome::AlreadyApplied);
}

#[tokio::test]
async fn a_waiting_notice_that_a_killed_process_left_is_applied_at_the_next_start() {
    let side = WriteSide::start().await;
    side.key(STUDIO, "a", true).await;
    side.record(&checkout("evt_1", 1)).await;
    let late = invoice("evt_2", 1, "studio");
    let held = StoredNotice { received_at: side.clock.now(), notice: Notice::Waiting(late.clone()) };
    side.vault().store_notice(&held).await.unwrap();
    let side = side.restart().await;
    assert_eq!(side.tiers(STUDIO).await, ["studio"]);
    assert_eq!(side.vault().notices().await.unwrap(), []);
    assert_eq!(side.record(&late).await, PaymentOutcome::AlreadyApplied);
}

#[tokio::test]
async fn a_payer_without_keys_gets_an_account_a_mail_and_the_tier_with_the_first_proof() {
    let side = WriteSide::start().await;
    let paid = PaymentNotice { email: Some(STUDIO.parse().unwrap()), ..invoice("evt_1", 1, "studio") };
    assert_eq!(side.record(&paid).await, PaymentOutcome::Applied);
    assert_eq!(side.kinds().await, ["account_opened", "payment_recorded", "entitlement_changed"]);
    assert!(side.vault().due_message(side.clock.now()).await.unwrap().is_some());
    side.key(STUDIO, "a", false).await;
    assert_eq!(side.tiers(STUDIO).await, ["free"], "somebody else may have requested the key");
    side.send(Command::ProveEmail { email: STUDIO.parse().unwrap(), key_ids: Vec::new() }).await;
    assert_eq!(side.tiers(STUDIO).await, ["studio"]);
}

#[tokio::test]
async fn a_customer_of_another_product_gets_no_account() {
    let side = WriteSide::start().await;
    assert_eq!(
        side.record(&checkout("evt_1", 1)).await,
        PaymentOutcome::Waiting,
        "no notice names a tier yet"
    );
    assert_eq!(side.kinds().await, Vec::<String>::new());
    assert_eq!(
        side.record(&invoice("evt_2", 1, "studio")).await,
        PaymentOutcome::Applied,
        "both together name account and tier"
    );
    assert_eq!(side.kinds().await.iter().filter(|kind| *kind == "payment_recorded").count(), 2);
    assert_eq!(side.vault().waiting_notices().await.unwrap(), []);
}

#[tokio::test]
async fn only_its_holder_opens_an_account_for_an_erased_address_again() {
    let side = WriteSide::start().await;
    side.key(STUDIO, "a", true).await;
    side.record(&checkout("evt_1", 1)).await;
    let kept = KeptNotice {
        provider: Provider::Stripe,
        event_id: "evt_k".parse().unwrap(),
        kind: "customer.created".into(),
        reason: KeptReason::NotLookedAt,
        raw: format!("{{\"email\":\"{STUDIO}\"}}"),
    };
    side.send(Command::KeepNotice { notice: kept }).await;
    assert_eq!(side.vault().notices().await.unwrap().len(), 1);
    side.send(Command::EraseAccount { email: STUDIO.parse().unwrap() }).await;
    assert_eq!(side.vault().notices().await.unwrap(), []);

    let renewed = PaymentNotice { email: Some(STUDIO.parse().unwrap()), ..invoice("evt_2", 1, "studio") };
    assert_eq!(side.record(&renewed).await, PaymentOutcome::Erased);
    assert_eq!(side.record(&ended("evt_3", 1)).await, PaymentOutcome::Erased);
    assert_eq!(side.vault().account_of(&STUDIO.parse().unwrap()).await.unwrap(), None);
    side.key(STUDIO, "b", true).await;
    assert_eq!(side.record(&renewed).await, PaymentOutcome::Applied);
    assert_eq!(side.tiers(STUDIO).await, ["studio"]);
    let payers = read_payers(&side.store).await.unwrap();
    let erased = payers.iter().filter(|payer| matches!(payer.account, Account::Erased(_))).count();
    assert_eq!((payers.len(), erased), (2, 1), "{payers:?}");
    // Sent again, it stays with the new account.
    assert_eq!(side.record(&renewed).await, PaymentOutcome::AlreadyApplied);
}

#[tokio::test]
async fn a_notice_without_an_account_is_deleted_after_ninety_days() {
    let side = WriteSide::start().await;
    assert_eq!(side.record(&invoice("evt_old", 7, "studio")).await, PaymentOutcome::Waiting);
    side.clock.advance(SignedDuration::from_hours(24 * 60));
    let young = invoice("evt_young", 8, "studio");
    assert_eq!(side.record(&young).await, PaymentOutcome::Waiting);
    side.payments.clean_up(&mut false).await.unwrap();
    assert_eq!(side.vault().waiting_notices().await.unwrap().len(), 2);
    side.clock.advance(SignedDuration::from_hours(24 * 31));
    side.payments.clean_up(&mut false).await.unwrap();
    assert_eq!(side.vault().waiting_notices().await.unwrap(), [young]);
}

#[tokio::test]
async fn no_file_contains_an_address() {
    let side = WriteSide::start().await;
    side.record(&checkout("evt_1", 1)).await;
    side.record(&invoice("evt_9", 7, "studio")).await;
    side.key("bob@example.org", "b", false).await;
    side.record(&checkout("evt_2", 2)).await;
    assert!(!kit::any_file_contains(side.folder.path(), "@example.org"));
}

/// Notices of two customers, one paying and one ended, and one notice without an account.
fn all() -> Vec<PaymentNotice> {
    vec![
        checkout("evt_a", 1),
        invoice("evt_b", 1, "studio"),
        notice("evt_c", 4, PaymentKind::Failed, 1),
        checkout("evt_d", 2),
        invoice("evt_e", 2, "pro"),
        ended("evt_f", 2),
        invoice("evt_g", 3, "pro"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn order_and_repetition_do_not_matter(
        notices in Just([all(), all()].concat()).prop_shuffle(),
        restart_at in 0..14_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut side = WriteSide::start().await;
            side.key(STUDIO, "a", true).await;
            side.key("bob@example.org", "b", true).await;
            for (number, notice) in notices.iter().enumerate() {
                if number == restart_at {
                    side = side.restart().await;
                }
                side.record(notice).await;
            }
            assert_eq!(side.tiers(STUDIO).await, ["studio"]);
            assert_eq!(side.tiers("bob@example.org").await, ["free"]);
            let recorded = side.kinds().await.iter().filter(|kind| *kind == "payment_recorded").count();
            assert_eq!(recorded, 6);
            assert_eq!(side.vault().waiting_notices().await.unwrap(), [invoice("evt_g", 3, "pro")]);
        });
    }
}
