//! The settings that give an event its meaning.

use std::fmt;
use std::str::FromStr;

use schemas::payment::PaymentId;
use schemas::tier::{TierName, Tiers};

/// The mode of the provider's account whose events take effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Real payments; tests have no effect.
    Live,
    /// Tests; real payments have no effect.
    Test,
}

/// The setting `stripe_prices`: the tier of each price of the provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StripePrices(Vec<(PaymentId, TierName)>);

/// What is needed to understand an event.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The tier of each price.
    pub prices: StripePrices,
    /// The tiers that exist.
    pub tiers: Tiers,
    /// The mode whose events take effect.
    pub mode: Mode,
}

impl StripePrices {
    /// Returns the tier of a price.
    pub fn tier(&self, price: &str) -> Option<&TierName> {
        self.0.iter().find(|(id, _)| id.to_string() == price).map(|(_, tier)| tier)
    }

    /// Iterates over the tiers that have a price.
    pub fn tiers(&self) -> impl Iterator<Item = &TierName> {
        self.0.iter().map(|(_, tier)| tier)
    }
}

impl FromStr for Mode {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "live" => Ok(Mode::Live),
            "test" => Ok(Mode::Test),
            _ => Err("expected live or test"),
        }
    }
}

impl FromStr for StripePrices {
    type Err = String;

    /// Reads `price_123=studio, price_456=pro`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = |part: &str| {
            let (price, tier) = part.split_once('=')?;
            Some((price.trim().parse().ok()?, tier.trim().parse().ok()?))
        };
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let prices = parts.map(|part| {
            read(part).ok_or_else(|| {
                format!("“{part}” is not a price and tier; write them as price_123=studio, price_456=pro")
            })
        });
        prices.collect::<Result<_, _>>().map(StripePrices)
    }
}

impl fmt::Display for StripePrices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (price, tier)) in self.0.iter().enumerate() {
            write!(f, "{}{price}={tier}", if index > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_price_has_a_tier() {
        let prices: StripePrices = "price_1=studio , price_2 = pro,".parse().unwrap();
        assert_eq!(prices.to_string(), "price_1=studio, price_2=pro");
        assert_eq!(prices.tier("price_2").map(TierName::as_str), Some("pro"));
        assert_eq!(prices.tier("price_3"), None);
        assert_eq!(
            "price_1".parse::<StripePrices>().unwrap_err(),
            "“price_1” is not a price and tier; write them as price_123=studio, price_456=pro"
        );
    }
}
