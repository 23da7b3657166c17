//! Prices, terms and checkout addresses of the tiers, for the pricing page.

use std::str::FromStr;

use schemas::tier::TierName;

/// The price and the terms of a tier, in the operator's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The tier.
    pub tier: TierName,
    /// The price of a month with its currency, for example `29 EUR`.
    pub price: String,
    /// The permitted use; may be empty.
    pub terms: String,
}

/// The setting `prices`: offers in their order, as in `free=0 EUR: evaluation; studio=29 EUR: commercial use`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prices(Vec<Offer>);

/// The setting `checkout`: the address at which each tier is paid, as in `studio=https://pay.example.org/studio, pro=https://…`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkouts(Vec<(TierName, String)>);

/// What the pricing page shows beside the tiers themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offers {
    /// The prices.
    pub prices: Prices,
    /// The checkout addresses.
    pub checkouts: Checkouts,
}

/// A setting that is not such a list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOffers {
    /// This part is not a tier with a price.
    #[error("“{0}” is not a price; write them as free=0 EUR: evaluation; studio=29 EUR: commercial use")]
    Price(String),
    /// This part is not a tier with an https address.
    #[error("“{0}” leads nowhere; write them as studio=https://pay.example.org/studio, with commas")]
    Checkout(String),
}

impl Prices {
    /// Returns the offer of a tier.
    pub fn of(&self, tier: &TierName) -> Option<&Offer> {
        self.0.iter().find(|offer| offer.tier == *tier)
    }

    /// Iterates over the offers in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Offer> {
        self.0.iter()
    }
}

impl Checkouts {
    /// Returns the checkout address of a tier.
    pub fn of(&self, tier: &TierName) -> Option<&str> {
        self.0.iter().find(|(one, _)| one == tier).map(|(_, address)| address.as_str())
    }
}

impl FromStr for Prices {
    type Err = InvalidOffers;

    fn from_str(text: &str) -> Result<Prices, InvalidOffers> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        let offer = |part: &str| {
            let (tier, rest) = part.split_once('=')?;
            let (price, terms) = rest.split_once(':').unwrap_or((rest, ""));
            let (price, terms) = (price.trim().to_owned(), terms.trim().to_owned());
            let tier = tier.trim().parse().ok()?;
            (!price.is_empty()).then_some(Offer { tier, price, terms })
        };
        let offers = parts.map(|part| offer(part).ok_or_else(|| InvalidOffers::Price(part.to_owned())));
        offers.collect::<Result<_, _>>().map(Prices)
    }
}

impl FromStr for Checkouts {
    type Err = InvalidOffers;

    fn from_str(text: &str) -> Result<Checkouts, InvalidOffers> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let checkout = |part: &str| {
            let (tier, address) = part.split_once('=')?;
            let address = address.trim();
            let leads = address.starts_with("https://") && !address.contains(char::is_whitespace);
            leads.then_some((tier.trim().parse().ok()?, address.to_owned()))
        };
        let all = parts.map(|part| checkout(part).ok_or_else(|| InvalidOffers::Checkout(part.to_owned())));
        all.collect::<Result<_, _>>().map(Checkouts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_has_a_price_and_terms() {
        let prices: Prices = "free=0 EUR: personal use, evaluation; studio = 29 EUR".parse().unwrap();
        let studio = prices.of(&"studio".parse().unwrap()).unwrap();
        assert_eq!((studio.price.as_str(), studio.terms.as_str()), ("29 EUR", ""));
        assert_eq!(prices.iter().next().unwrap().terms, "personal use, evaluation");
        assert_eq!("free".parse::<Prices>(), Err(InvalidOffers::Price("free".into())));
        assert_eq!("free=: x".parse::<Prices>(), Err(InvalidOffers::Price("free=: x".into())));
    }

    #[test]
    fn a_tier_is_paid_over_https() {
        let checkouts: Checkouts = "studio=https://pay.example.org/a?b=c".parse().unwrap();
        assert_eq!(checkouts.of(&"studio".parse().unwrap()), Some("https://pay.example.org/a?b=c"));
        for text in ["studio=http://x", "studio=javascript:alert(1)", "studio", "STUDIO=https://x"] {
            assert_eq!(text.parse::<Checkouts>(), Err(InvalidOffers::Checkout(text.into())));
        }
    }
}
