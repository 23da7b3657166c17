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
use jiff::civil::Date;
use jiff::tz::TimeZone;
use schemas::api::usage::{DayUsage, UsageAnswer};
use schemas::key::KeyHash;

use super::form::{access, field};
use super::layout::Layout;
use super::page;
use super::words::{capitalised, grouped};

/// The height of the tallest bar and the width of a day, in units of the drawing.
const HEIGHT: u64 = 200;
const DAY_WIDTH: u64 = 20;

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
    month: String,
    used: String,
    limit: String,
    remaining: String,
    resets: String,
    bars: Vec<Bar>,
    width: u64,
}

/// A day of the month.
struct Bar {
    date: String,
    rest: u64,
    mcp: u64,
    x: u64,
    /// Heights in units of the drawing.
    rest_height: u64,
    mcp_height: u64,
}

impl Bar {
    fn rest_y(&self) -> u64 {
        HEIGHT - self.rest_height
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
    page(&UsagePage { layout: layout(&state), fault: None, usage: Some(UsageView::of(usage)) })
}

fn layout(state: &ApiState) -> Layout {
    Layout::new(state, route::USAGE_PAGE, "Usage")
        .describing("What a key has used in the running month, day by day.", route::USAGE_PAGE)
}

impl UsageView {
    fn of(usage: UsageAnswer) -> UsageView {
        let first = usage.month.start().to_zoned(TimeZone::UTC).date();
        let bars = bars(&usage.days, first);
        UsageView {
            hint: usage.key.hint,
            name: usage.key.name,
            tier: capitalised(usage.tier.as_str()),
            month: first.strftime("%B %Y").to_string(),
            used: grouped(usage.used),
            limit: grouped(usage.limit),
            remaining: grouped(usage.remaining),
            resets: usage.resets_at.strftime("%-d %B %Y, %H:%M UTC").to_string(),
            width: DAY_WIDTH * bars.len() as u64,
            bars,
        }
    }
}

/// Returns a bar for every day of the month, future days included.
fn bars(days: &[DayUsage], first: Date) -> Vec<Bar> {
    let largest = days.iter().map(|day| day.rest + day.mcp).max().unwrap_or(0).max(1);
    // A day with any call has a visible bar.
    let height = |calls: u64| if calls == 0 { 0 } else { (calls * HEIGHT / largest).max(2) };
    let bar = |(index, date): (u64, Date)| {
        let (rest, mcp) = days.iter().find(|day| day.date == date).map_or((0, 0), |day| (day.rest, day.mcp));
        let (rest_height, mcp_height) = (height(rest), height(mcp).min(HEIGHT - height(rest)));
        Bar { date: date.to_string(), rest, mcp, x: index * DAY_WIDTH, rest_height, mcp_height }
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
    fn every_day_of_the_month_has_a_bar() {
        let day = |day, rest, mcp| DayUsage { date: jiff::civil::date(2026, 11, day), rest, mcp };
        let bars = bars(&[day(2, 30, 10), day(21, 0, 1)], jiff::civil::date(2026, 11, 1));
        assert_eq!(bars.len(), 30);
        let heights: Vec<_> = bars
            .iter()
            .filter(|bar| bar.rest + bar.mcp > 0)
            .map(|bar| (bar.date.as_str(), bar.x, bar.rest_height, bar.mcp_height, bar.mcp_y()))
            .collect();
        assert_eq!(heights, [("2026-11-02", 20, 150, 50, 0), ("2026-11-21", 400, 0, 5, 195)]);
        assert_eq!(super::bars(&[], jiff::civil::date(2028, 2, 1)).len(), 29);
    }
}
