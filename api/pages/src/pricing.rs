//! `GET /pricing`: the configured tiers.

use answers::error::ApiError;
use answers::mail::Contact;
use answers::route;
use answers::state::ApiState;
use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::form::access;
use super::layout::Layout;
use super::page;
use super::words::{capitalised, grouped};

#[derive(Template)]
#[template(path = "pricing.html")]
struct Pricing {
    layout: Layout,
    tiers: Vec<Shown>,
    /// Whom to ask for a tier that cannot be bought here, and for a link that is not mailed.
    contact: Option<Contact>,
    /// Whether links are mailed.
    mails: bool,
}

/// A tier as the page shows it.
struct Shown {
    name: String,
    price: String,
    is_free: bool,
    terms: String,
    calls: String,
    checkout: Option<String>,
    is_first: bool,
}

pub(super) async fn pricing(State(state): State<ApiState>) -> Result<Response, ApiError> {
    let access = access(&state)?;
    let layout = Layout::new(&state, route::PRICING, "Pricing")
        .describing("What a key may call in a month, and what that costs.", route::PRICING);
    let first = access.tiers.first();
    let tiers = access.tiers.iter().map(|tier| {
        let offer = state.offers().prices.of(&tier.name);
        let price = offer.map(|offer| offer.price.clone()).unwrap_or_default();
        Shown {
            name: capitalised(tier.name.as_str()),
            is_free: is_nothing(&price),
            price,
            terms: offer.map(|offer| offer.terms.clone()).unwrap_or_default(),
            calls: grouped(tier.quota),
            checkout: state.offers().checkouts.of(&tier.name).map(str::to_owned),
            is_first: tier.name == first.name,
        }
    });
    page(&Pricing {
        layout,
        tiers: tiers.collect(),
        contact: state.site().contact().cloned(),
        mails: access.mail.is_available(),
    })
}

/// Returns whether a price is nothing, such as `0 EUR`.
fn is_nothing(price: &str) -> bool {
    let mut digits = price.chars().filter(char::is_ascii_digit).peekable();
    digits.peek().is_some() && digits.all(|digit| digit == '0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_of_nothing_is_found_in_every_currency() {
        let prices = ["0 EUR", "€ 0.00", "0", "29 EUR", "10 USD", "", "on request"];
        assert_eq!(prices.map(is_nothing), [true, true, true, false, false, false, false]);
    }
}
