//! `GET` and `POST /usage`: the usage of a key in the current month. The key is sent in the body of a form and never put into a URL,
//! the history or a cookie.

use answers::auth::admission::admit_form_key;
use answers::auth::proxies::Peer;
use answers::error::ApiError;
use answers::route;
use answers::state::ApiState;
use answers::usage::answer;
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use read::counters::MonthUsage;
use schemas::api::usage::{DayUsage, UsageAnswer};
use schemas::key::KeyHash;
use schemas::month::Month;
use schemas::tier::{TierName, Tiers};

use super::form::{access, field};
use super::layout::Layout;
use super::page;
use super::words::{capitalised, grouped};

/// The height of the tallest bar and the width of a day, in units of the drawing.
const HEIGHT: u64 = 200;
const DAY_WIDTH: u64 = 20;

/// The space between the calls over REST and those over MCP of a day, whose colours are near to each other.
const GAP: u64 = 2;

/// The maximum number of months before the present one.
const MONTHS_BEFORE: u32 = 24;

#[derive(Template)]
#[template(path = "usage.html")]
struct UsagePage {
    layout: Layout,
    fault: Option<&'static str>,
    usage: Option<UsageView>,
}

/// The usage of a key as the page shows it.
struct UsageView {
    hint: String,
    name: Option<String>,
    tier: String,
    /// The month, such as `November 2026` and as `2026-11`.
    month: (String, Month),
    used: String,
    limit: String,
    remaining: String,
    resets_at: Timestamp,
    used_calls: u64,
    limit_calls: u64,
    /// The used part of the allowance, in percent.
    share: String,
    /// The calls of the day with most calls, which is the top of the drawing.
    largest: String,
    bars: Vec<Bar>,
    width: u64,
    /// The months before with calls, the newest first.
    before: Vec<MonthRow>,
    upgrade: Option<Upgrade>,
}

/// The next tier that can be bought here.
#[derive(Debug, PartialEq, Eq)]
struct Upgrade {
    tier: String,
    calls: String,
    /// Where it is paid.
    checkout: String,
}

/// The calls of a month before this one.
struct MonthRow {
    /// The month, such as `October 2026` and as `2026-10`.
    month: (String, Month),
    rest: String,
    mcp: String,
    total: String,
}

/// A day of the month.
struct Bar {
    date: Date,
    /// The day, such as `2 November`.
    day: String,
    rest: u64,
    mcp: u64,
    x: u64,
    /// Heights in units of the drawing.
    rest_height: u64,
    mcp_height: u64,
}

impl Bar {
    /// The height of the calls over REST as drawn: below those over MCP there is a gap, except in the smallest bars.
    fn rest_drawn(&self) -> u64 {
        let gap = if self.mcp_height > 0 { GAP.min(self.rest_height.saturating_sub(1)) } else { 0 };
        self.rest_height - gap
    }

    fn rest_y(&self) -> u64 {
        HEIGHT - self.rest_drawn()
    }

    fn mcp_y(&self) -> u64 {
        HEIGHT - self.rest_height - self.mcp_height
    }
}

pub(super) async fn form(State(state): State<ApiState>) -> Result<Response, ApiError> {
    access(&state)?;
    page(&UsagePage { layout: layout(&state), fault: None, usage: None })
}

pub(super) async fn usage(
    State(state): State<ApiState>,
    Extension(Peer(peer)): Extension<Peer>,
    body: Bytes,
) -> Result<Response, ApiError> {
    let access = access(&state)?;
    let text = field(&body, "key");
    let Some(key) = admit_form_key(&state, &KeyHash::of(text.as_bytes()), peer)? else {
        let fault =
            Some("This key cannot be used. Check that all 55 characters of it were pasted, or get another.");
        return page(&UsagePage { layout: layout(&state), fault, usage: None });
    };
    let usage = answer(&state, access, &key, text.parse().ok().as_ref()).await?;
    let counters = state.counters()?;
    let before = counters.reader.months_before(key.key_id, usage.month, MONTHS_BEFORE).await;
    let before = before.map_err(ApiError::unavailable_because)?;
    let upgrade = upgrade(&access.tiers, &usage.tier, |tier| state.offers().checkouts.of(tier));
    page(&UsagePage {
        layout: layout(&state),
        fault: None,
        usage: Some(UsageView::of(usage, before, upgrade)),
    })
}

fn layout(state: &ApiState) -> Layout {
    Layout::new(state, route::USAGE_PAGE, "Usage")
        .describing("What a key has used in the running month, day by day.", route::USAGE_PAGE)
}

/// Returns the smallest of the larger tiers that have a checkout.
fn upgrade<'a>(
    tiers: &Tiers,
    present: &TierName,
    checkout: impl Fn(&TierName) -> Option<&'a str>,
) -> Option<Upgrade> {
    let larger = tiers.iter().filter(|tier| tier.quota > tiers.quota(present));
    let sold = larger.filter_map(|tier| Some((tier, checkout(&tier.name)?)));
    let (next, checkout) = sold.min_by_key(|(tier, _)| tier.quota)?;
    Some(Upgrade {
        tier: capitalised(next.name.as_str()),
        calls: grouped(next.quota),
        checkout: checkout.to_owned(),
    })
}

impl MonthRow {
    fn of(usage: MonthUsage) -> MonthRow {
        MonthRow {
            month: (named(usage.month), usage.month),
            rest: grouped(usage.rest),
            mcp: grouped(usage.mcp),
            total: grouped(usage.rest + usage.mcp),
        }
    }
}

/// Returns a month in words, such as `October 2026`.
fn named(month: Month) -> String {
    first_day(month).strftime("%B %Y").to_string()
}

fn first_day(month: Month) -> Date {
    month.start().to_zoned(TimeZone::UTC).date()
}

impl UsageView {
    fn of(usage: UsageAnswer, before: Vec<MonthUsage>, upgrade: Option<Upgrade>) -> UsageView {
        let bars = bars(&usage.days, first_day(usage.month));
        UsageView {
            hint: usage.key.hint,
            name: usage.key.name,
            tier: capitalised(usage.tier.as_str()),
            month: (named(usage.month), usage.month),
            before: before.into_iter().map(MonthRow::of).collect(),
            used: grouped(usage.used),
            limit: grouped(usage.limit),
            remaining: grouped(usage.remaining),
            resets_at: usage.resets_at,
            used_calls: usage.used,
            limit_calls: usage.limit,
            share: percent(usage.used, usage.limit),
            largest: match bars.iter().map(|bar| bar.rest + bar.mcp).max().unwrap_or_default() {
                1 => "1 call".to_owned(),
                calls => format!("{} calls", grouped(calls)),
            },
            width: DAY_WIDTH * bars.len() as u64,
            bars,
            upgrade,
        }
    }
}

/// Returns a part in percent, rounded down.
fn percent(part: u64, all: u64) -> String {
    let percent = (u128::from(part) * 100).checked_div(u128::from(all)).unwrap_or(100);
    if percent == 0 && part > 0 { "less than 1 %".to_owned() } else { format!("{percent} %") }
}

/// Returns a bar for every day of the month, future days included.
fn bars(days: &[DayUsage], first: Date) -> Vec<Bar> {
    let largest = days.iter().map(|day| day.rest + day.mcp).max().unwrap_or(0).max(1);
    // A day with any call has a visible bar.
    let height = |calls: u64| if calls == 0 { 0 } else { (calls * HEIGHT / largest).max(2) };
    let bar = |(index, date): (u64, Date)| {
        let (rest, mcp) = days.iter().find(|day| day.date == date).map_or((0, 0), |day| (day.rest, day.mcp));
        let (rest_height, mcp_height) = (height(rest), height(mcp).min(HEIGHT - height(rest)));
        Bar {
            date,
            day: date.strftime("%-d %B").to_string(),
            rest,
            mcp,
            x: index * DAY_WIDTH,
            rest_height,
            mcp_height,
        }
    };
    (0..)
        .zip(first.series(jiff::ToSpan::days(1)).take_while(|date| date.month() == first.month()))
        .map(bar)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_part_is_not_shown_as_nothing() {
        let shown = [(0, 200), (1, 200), (24, 200), (200, 200), (210, 200), (1, 0), (u64::MAX, u64::MAX)]
            .map(|(part, all)| percent(part, all));
        assert_eq!(shown, ["0 %", "less than 1 %", "12 %", "100 %", "105 %", "100 %", "100 %"]);
    }

    #[test]
    fn the_next_tier_that_is_sold_here_is_offered() {
        let tiers: Tiers = "free=200, studio=5000, pro=25000, house=90000".parse().unwrap();
        let next = |present: &str, sold: &[&str]| {
            let checkout =
                |tier: &TierName| sold.contains(&tier.as_str()).then_some("https://pay.example.org");
            upgrade(&tiers, &present.parse().unwrap(), checkout).map(|next| (next.tier, next.calls))
        };
        let of = |tier: &str, calls: &str| Some((tier.to_owned(), calls.to_owned()));
        assert_eq!(next("free", &["pro", "studio"]), of("Studio", "5,000"));
        assert_eq!(next("free", &["house", "pro"]), of("Pro", "25,000"));
        assert_eq!(next("studio", &["studio"]), None);
        assert_eq!(next("pro", &["free", "studio", "pro"]), None);
        assert_eq!(next("free", &[]), None);
        assert_eq!(next("former", &["studio"]), of("Studio", "5,000"), "a tier that is no longer configured");
    }

    #[test]
    fn calls_over_rest_and_mcp_are_drawn_apart() {
        let drawn = |rest_height, mcp_height| {
            let date = jiff::civil::date(2026, 11, 1);
            let bar = Bar { date, day: String::new(), rest: 0, mcp: 0, x: 0, rest_height, mcp_height };
            (bar.mcp_y(), bar.rest_y(), bar.rest_drawn())
        };
        assert_eq!(drawn(150, 50), (0, 52, 148));
        assert_eq!(drawn(2, 2), (196, 199, 1));
        assert_eq!(drawn(150, 0), (50, 50, 150));
        assert_eq!(drawn(0, 150), (50, 200, 0));
    }

    #[test]
    fn every_day_of_the_month_has_a_bar() {
        let day = |day, rest, mcp| DayUsage { date: jiff::civil::date(2026, 11, day), rest, mcp };
        let bars = bars(&[day(2, 30, 10), day(21, 0, 1)], jiff::civil::date(2026, 11, 1));
        assert_eq!(bars.len(), 30);
        let heights: Vec<_> = bars
            .iter()
            .filter(|bar| bar.rest + bar.mcp > 0)
            .map(|bar| (bar.day.as_str(), bar.x, bar.rest_height, bar.mcp_height, bar.mcp_y()))
            .collect();
        assert_eq!(heights, [("2 November", 20, 150, 50, 0), ("21 November", 400, 0, 5, 195)]);
        assert_eq!(super::bars(&[], jiff::civil::date(2028, 2, 1)).len(), 29);
    }
}
