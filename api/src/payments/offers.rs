//! What the tiers cost and are for, and where they are paid: for the pricing page.

use std::str::FromStr;

use schemas::tier::TierName;

/// What a tier costs, for which use, in the words of the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Which tier.
    pub tier: TierName,
    /// For a month, with its currency, for example `29 EUR`.
    pub price: String,
    /// What it is for; may be empty.
    pub terms: String,
}

/// The prices, in the order of the configuration: `free=0 EUR: evaluation; studio=29 EUR: commercial use`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prices(Vec<Offer>);

/// Where tiers are paid: `studio=https://pay.example.org/studio, pro=https://…`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkouts(Vec<(TierName, String)>);

/// What the pricing page tells beside the tiers themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offers {
    /// What they cost.
    pub prices: Prices,
    /// Where they are paid.
    pub checkouts: Checkouts,
}

/// A text that is no such list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOffers {
    /// A part that is no tier with a price.
    #[error("“{0}” is no price; write them as free=0 EUR: evaluation; studio=29 EUR: commercial use")]
    Price(String),
    /// A part that is no tier with an address.
    #[error("“{0}” leads nowhere; write them as studio=https://pay.example.org/studio, with commas")]
    Checkout(String),
}

impl Prices {
    /// What is said of a tier.
    pub fn of(&self, tier: &TierName) -> Option<&Offer> {
        self.0.iter().find(|offer| offer.tier == *tier)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Offer> {
        self.0.iter()
    }
}

impl Checkouts {
    /// Where a tier is paid.
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
    fn prices_have_words() {
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
