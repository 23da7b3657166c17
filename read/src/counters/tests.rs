#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use jiff::civil::Date;
use proptest::prelude::*;
use schemas::api::usage::DayUsage;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::TierName;
use schemas::usage::{Call, CallId, Surface};
use uuid::Uuid;

use super::*;

fn key(number: u64) -> KeyId {
    format!("Key{number:05}").parse().unwrap()
}

fn tier(name: &str) -> TierName {
    name.parse().unwrap()
}

fn month(text: &str) -> Month {
    text.parse().unwrap()
}

/// Returns a call of the free tier over REST; its id is derived from its number.
fn call(number: u128, owner: u64, time: &str) -> Metered {
    let time: Timestamp = time.parse().unwrap();
    let call = Call {
        id: CallId(Uuid::from_u128(number)),
        key_id: key(owner),
        tier: tier("free"),
        month: Month::of(time),
        time,
        surface: Surface::Rest,
        operation: "search".into(),
    };
    let received = call.month;
    Metered { call, overrun: false, sequence: u64::try_from(number).ok(), recreated: false, received }
}

/// The default month of the node's clock.
fn november() -> Month {
    month("2026-11")
}

async fn count(writer: &mut CountersWriter, calls: &[Metered]) -> u64 {
    count_in(writer, november(), calls).await
}

/// Counts on a node whose clock is in the month `now`.
async fn count_in(writer: &mut CountersWriter, now: Month, calls: &[Metered]) -> u64 {
    let progress = writer.progress().clone();
    writer.commit(calls, progress, now).await.unwrap();
    writer.progress().checkpoint.position.0
}

async fn ids(folder: &Path) -> i64 {
    use sqlx::ConnectOptions;
    let mut connection = options(folder).connect().await.unwrap();
    sqlx::query_scalar("SELECT count(*) FROM seen").fetch_one(&mut connection).await.unwrap()
}

async fn totals(reader: &CountersReader) -> Vec<(KeyId, Month, String, u64, u64)> {
    let mut all = Vec::new();
    reader
        .each_total(&mut |key, month, tier, used, overrun| {
            all.push((key, month, tier.to_string(), used, overrun))
        })
        .await
        .unwrap();
    all
}

#[tokio::test]
async fn calls_are_counted_by_allowance_and_day() {
    let (folder, november) = (tempfile::tempdir().unwrap(), november());
    let mut writer = CountersWriter::open(folder.path()).await.unwrap();
    let mut over_mcp = call(2, 1, "2026-11-20T23:59:59.999Z");
    over_mcp.call.surface = Surface::Mcp;
    let mut other_tier = call(3, 1, "2026-11-21T00:00:00Z");
    other_tier.call.tier = tier("pro");
    let mut overrun = call(4, 1, "2026-11-22T00:00:00Z");
    overrun.overrun = true;
    let batch = [call(1, 1, "2026-11-20T08:00:00.000001Z"), over_mcp, other_tier, overrun];
    assert_eq!(count(&mut writer, &batch).await, 4);
    let reader = CountersReader::open(folder.path(), november).await.unwrap();
    assert_eq!(reader.counted(key(1), &tier("free"), november), Counted { used: 2, through: 2 });
    assert_eq!(reader.counted(key(1), &tier("pro"), november), Counted { used: 1, through: 3 });
    assert_eq!(reader.counted(key(1), &tier("gold"), november), Counted::default());
    assert_eq!(
        totals(&reader).await,
        [(key(1), november, "free".into(), 2, 1), (key(1), november, "pro".into(), 1, 0)]
    );
    let day = |date: &str, rest, mcp| DayUsage { date: date.parse().unwrap(), rest, mcp };
    assert_eq!(
        reader.days(key(1), november).await.unwrap(),
        [day("2026-11-20", 1, 1), day("2026-11-21", 1, 0)]
    );
    assert_eq!(reader.days(key(1), november.next()).await.unwrap(), []);
    let last = reader.last_used(key(1)).await.unwrap();
    assert_eq!(
        last,
        Some("2026-11-21T00:00:00Z".parse().unwrap()),
        "calls over the quota are not counted ones"
    );
    assert_eq!(reader.last_used(key(2)).await.unwrap(), None);
    let of_all = reader.last_used_of_all().await.unwrap();
    assert_eq!((of_all.get(&key(1)).copied(), of_all.get(&key(2))), (last, None));

    assert_eq!(
        count(&mut writer, &[call(5, 1, "2026-11-20T09:00:00Z"), call(6, 2, "2026-11-20T09:00:00Z")]).await,
        6
    );
    reader.refresh(november).await.unwrap();
    assert_eq!(reader.counted(key(1), &tier("free"), november), Counted { used: 3, through: 5 });
    assert_eq!(reader.last_used(key(1)).await.unwrap(), last);
    let summary = reader.summary(november).await.unwrap();
    assert_eq!(summary, MonthSummary { calls: 5, overrun: 1, keys: 2 });
    assert_eq!(reader.summary(november.next()).await.unwrap(), MonthSummary::default());
}

#[tokio::test]
async fn the_months_before_are_totals_of_their_days() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CountersWriter::open(folder.path()).await.unwrap();
    let mut over_mcp = call(4, 1, "2026-10-31T23:59:59Z");
    over_mcp.call.surface = Surface::Mcp;
    let batch = [
        call(1, 1, "2026-08-02T08:00:00Z"),
        call(2, 1, "2026-10-01T00:00:00Z"),
        call(3, 1, "2026-10-02T00:00:00Z"),
        over_mcp,
        call(5, 1, "2026-11-01T00:00:00Z"),
        call(6, 2, "2026-10-02T00:00:00Z"),
    ];
    count(&mut writer, &batch).await;
    let november: Month = "2026-11".parse().unwrap();
    let reader = CountersReader::open(folder.path(), november).await.unwrap();
    let month = |month: &str, rest, mcp| MonthUsage { month: month.parse().unwrap(), rest, mcp };
    let (august, october) = (month("2026-08", 1, 0), month("2026-10", 2, 1));
    let before = async |key, limit| reader.months_before(key, november, limit).await.unwrap();
    assert_eq!(before(key(1), 24).await, [october.clone(), august]);
    assert_eq!(before(key(1), 1).await, [october]);
    assert_eq!(before(key(3), 24).await, []);
}

#[tokio::test]
async fn a_repeated_call_is_counted_once_and_updates_only_its_sequence() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CountersWriter::open(folder.path()).await.unwrap();
    let one = call(40, 1, "2026-11-20T08:00:00Z");
    assert_eq!(count(&mut writer, &[one.clone(), one.clone()]).await, 1);
    let before = digest(folder.path()).await.unwrap();
    let again = Metered { sequence: Some(1), recreated: true, ..one };
    assert_eq!(count(&mut writer, &[again]).await, 1);
    assert_eq!(digest(folder.path()).await.unwrap(), before);
    let reader = CountersReader::open(folder.path(), november()).await.unwrap();
    let counted = reader.counted(key(1), &tier("free"), month("2026-11"));
    assert_eq!(counted, Counted { used: 1, through: 1 }, "the place is that in the stream of today");
}

#[tokio::test]
async fn calls_of_a_recreated_stream_before_the_window_are_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CountersWriter::open(folder.path()).await.unwrap();
    let (old, late) = (call(1, 1, "2026-08-01T00:00:00Z"), call(2, 1, "2026-08-02T00:00:00Z"));
    count(&mut writer, std::slice::from_ref(&old)).await;
    let reader = CountersReader::open(folder.path(), november()).await.unwrap();
    count(&mut writer, &[call(3, 1, "2026-10-20T00:00:00Z")]).await;
    count(&mut writer, &[call(4, 1, "2026-11-20T00:00:00Z")]).await;
    reader.refresh(november()).await.unwrap();
    assert_eq!(reader.counted(key(1), &tier("free"), month("2026-08")), Counted::default(), "not in memory");
    let again = Metered { recreated: true, ..old };
    assert_eq!(count(&mut writer, &[again]).await, 3, "its id is deleted");
    assert_eq!(count(&mut writer, &[late]).await, 4, "a late call is not lost");
    assert_eq!(
        totals(&reader).await,
        [
            (key(1), month("2026-08"), "free".into(), 2, 0),
            (key(1), month("2026-10"), "free".into(), 1, 0),
            (key(1), month("2026-11"), "free".into(), 1, 0)
        ]
    );
    assert_eq!(ids(folder.path()).await, 2, "the ids of August are gone");
}

#[tokio::test]
async fn a_call_from_a_clock_that_is_months_ahead_affects_no_other_call() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CountersWriter::open(folder.path()).await.unwrap();
    let reader = CountersReader::open(folder.path(), november()).await.unwrap();
    let used = async |now: Month, of: &str| {
        reader.refresh(now).await.unwrap();
        reader.counted(key(1), &tier("free"), month(of)).used
    };
    let first = [call(1, 1, "2026-11-20T08:00:00Z"), call(2, 1, "2026-10-31T08:00:00Z")];
    count(&mut writer, &first).await;
    let ahead = Metered { received: november(), ..call(3, 1, "2027-02-20T08:00:00Z") };
    let far = Metered { received: november(), ..call(4, 1, "2099-01-20T08:00:00Z") };
    count(&mut writer, &[ahead.clone(), far]).await;
    assert_eq!(used(november(), "2026-11").await, 1);
    count(&mut writer, &[call(5, 1, "2026-11-20T08:00:01Z")]).await;
    assert_eq!([used(november(), "2026-11").await, used(november(), "2026-10").await], [2, 1]);
    // A recreated stream repeats them: they are known, and others of this month are counted.
    let again = first.iter().chain([&ahead]).map(|metered| Metered { recreated: true, ..metered.clone() });
    let again: Vec<Metered> =
        again.chain([Metered { recreated: true, ..call(6, 1, "2026-11-20T08:00:02Z") }]).collect();
    assert_eq!(count(&mut writer, &again).await, 6);
    assert_eq!([used(november(), "2026-11").await, used(november(), "2026-10").await], [3, 1]);
    // The node whose clock was ahead sees its own call, and this month again once its clock is right.
    assert_eq!([used(month("2027-02"), "2027-02").await, used(november(), "2026-11").await], [1, 3]);
    let again = CountersReader::open(folder.path(), november()).await.unwrap();
    assert_eq!(again.counted(key(1), &tier("free"), november()).used, 3);
}

#[tokio::test]
async fn a_machine_whose_clocks_are_all_ahead_keeps_the_ids_of_the_month_it_returns_to() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CountersWriter::open(folder.path()).await.unwrap();
    let first = call(1, 1, "2026-11-20T08:00:00Z");
    count(&mut writer, std::slice::from_ref(&first)).await;
    let february = month("2027-02");
    count_in(&mut writer, february, &[call(2, 1, "2027-02-20T08:00:00Z")]).await;
    let again = Metered { recreated: true, ..first };
    let other = Metered { recreated: true, ..call(3, 1, "2026-11-20T08:00:01Z") };
    assert_eq!(count(&mut writer, &[again, other]).await, 3, "one is known, one is new");
    // Once the time has really come, the ids of the months between go as ever.
    count_in(&mut writer, month("2026-12"), &[call(4, 1, "2026-12-01T00:00:00Z")]).await;
    count_in(&mut writer, month("2027-01"), &[call(5, 1, "2027-01-01T00:00:00Z")]).await;
    assert_eq!(ids(folder.path()).await, 3, "December, January and the call of February");
}

#[tokio::test]
async fn counters_of_an_earlier_version_that_saw_a_month_ahead_count_this_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CountersWriter::open(folder.path()).await.unwrap();
    let calls = [call(1, 1, "2026-11-20T08:00:00Z"), call(2, 1, "2099-01-20T08:00:00Z")];
    count(&mut writer, &calls).await;
    writer.close().await.unwrap();
    {
        use sqlx::ConnectOptions;
        let mut connection = options(folder.path()).connect().await.unwrap();
        let remove = "UPDATE checkpoint SET state = json_remove(state, '$.remembered')";
        sqlx::query(remove).execute(&mut connection).await.unwrap();
    }
    let mut writer = CountersWriter::open(folder.path()).await.unwrap();
    assert_eq!(writer.progress().dedup_window, None);
    let later = Metered { recreated: true, ..call(3, 1, "2026-11-20T09:00:00Z") };
    assert_eq!(count(&mut writer, &[later]).await, 3);
    assert_eq!(writer.progress().dedup_window, Some(DedupWindow::of(november())));
}

#[tokio::test]
async fn progress_is_committed_together_with_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CountersWriter::open(folder.path()).await.unwrap();
    assert_eq!(writer.progress(), &Progress::default());
    let created = "2026-11-01T00:00:00.123456789Z".parse().unwrap();
    let mut progress = Progress { ledger: Ledger::Done, ..Progress::default() };
    progress.sources.insert(
        "USAGE_FREE".into(),
        Source { created, sequence: 7, call: Some(CallId(Uuid::from_u128(1))), recreated: false },
    );
    writer.commit(&[call(1, 1, "2026-11-20T00:00:00Z")], progress.clone(), november()).await.unwrap();
    progress.checkpoint.position = Position(1);
    progress.dedup_window = Some(DedupWindow::of(november()));
    writer.close().await.unwrap();
    let writer = CountersWriter::open(folder.path()).await.unwrap();
    assert_eq!(writer.progress(), &progress);
    let reader = CountersReader::open(folder.path(), november()).await.unwrap();
    assert_eq!(reader.progress().await.unwrap(), progress);
}

/// Returns a call that is derived from its number: 3 keys, 2 tiers, 2 months, some over the quota.
fn made_up(number: u64) -> Metered {
    let base: Timestamp = "2026-10-25T00:00:00Z".parse().unwrap();
    let time = base + SignedDuration::from_hours(((number * 37) % (24 * 14)).cast_signed());
    let call = Call {
        id: CallId(Uuid::from_u128(u128::from(number) << 64 | 7)),
        key_id: key(number % 3),
        tier: tier(if number.is_multiple_of(5) { "pro" } else { "free" }),
        month: Month::of(time),
        time,
        surface: if number.is_multiple_of(4) { Surface::Mcp } else { Surface::Rest },
        operation: "search".into(),
    };
    let received = call.month;
    Metered { call, overrun: number % 7 == 3, sequence: Some(number + 1), recreated: false, received }
}

type Totals = BTreeMap<(Month, KeyId, String), (u64, u64)>;
type Days = BTreeMap<(KeyId, Date), [u64; 2]>;

fn naive(numbers: &[u64]) -> (Totals, Days) {
    let (mut totals, mut days) = (Totals::new(), Days::new());
    for number in numbers.iter().collect::<BTreeSet<_>>() {
        let Metered { call, overrun, .. } = made_up(*number);
        let total = totals.entry((call.month, call.key_id, call.tier.to_string())).or_default();
        if overrun {
            total.1 += 1;
            continue;
        }
        total.0 += 1;
        let date = call.time.to_zoned(jiff::tz::TimeZone::UTC).date();
        days.entry((call.key_id, date)).or_default()[usize::from(call.surface == Surface::Mcp)] += 1;
    }
    (totals, days)
}

/// Counts in batches that end at the cuts; a reader that was opened before refreshes after each.
async fn counted(numbers: &[u64], cuts: &[usize]) -> (CountersReader, [u8; 32], tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    CountersWriter::open(folder.path()).await.unwrap();
    let reader = CountersReader::open(folder.path(), november()).await.unwrap();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (numbers.len() + 1)).collect();
    cuts.sort_unstable();
    let mut start = 0;
    for end in cuts.into_iter().chain([numbers.len()]) {
        // The model is opened again for each batch, so that nothing is in memory only.
        let mut writer = CountersWriter::open(folder.path()).await.unwrap();
        let batch: Vec<Metered> = numbers[start..end].iter().copied().map(made_up).collect();
        count(&mut writer, &batch).await;
        reader.refresh(november()).await.unwrap();
        start = end;
    }
    let (_, digest) = digest(folder.path()).await.unwrap();
    (reader, digest, folder)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_order_any_batches_and_any_repetition_give_the_same_counts(
        numbers in proptest::collection::vec(0..60_u64, 1..120),
        shuffled in any::<proptest::sample::Index>(),
        cuts in proptest::collection::vec(0..120_usize, 0..5),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (reader, digest, _folder) = counted(&numbers, &cuts).await;
            let mut other = numbers.clone();
            other.rotate_left(shuffled.index(numbers.len()));
            other.reverse();
            other.dedup();
            let (_, same, _other_folder) = counted(&other, &[]).await;
            assert_eq!(digest, same);

            let (expected, days) = naive(&numbers);
            let actual: Totals = totals(&reader)
                .await
                .into_iter()
                .map(|(key, month, tier, used, overrun)| ((month, key, tier), (used, overrun)))
                .collect();
            assert_eq!(actual, expected);
            for ((month, key, name), (used, _)) in &expected {
                assert_eq!(reader.counted(*key, &tier(name), *month).used, *used);
            }
            for key in (0..3).map(key) {
                let mut actual = reader.days(key, month("2026-10")).await.unwrap();
                actual.extend(reader.days(key, month("2026-11")).await.unwrap());
                let actual: Days = actual.into_iter().map(|d| ((key, d.date), [d.rest, d.mcp])).collect();
                let expected = days.iter().filter(|((of, _), _)| *of == key);
                assert_eq!(actual, expected.map(|(at, calls)| (*at, *calls)).collect());
            }
        });
    }
}
