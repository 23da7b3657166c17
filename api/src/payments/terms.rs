//! What is paid for, as it is set.

use std::fmt;
use std::str::FromStr;

use schemas::payment::PaymentId;
use schemas::tier::{TierName, Tiers};

/// Whether real money is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is; tests have no effect.
    Live,
    /// It is not; real payments have no effect.
    Test,
}

/// Which of the provider's prices is which tier.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prices(Vec<(PaymentId, TierName)>);

/// All that is to be known for understanding what a provider tells.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Which price is which tier.
    pub prices: Prices,
    /// The tiers there are.
    pub tiers: Tiers,
    /// Whether real money is taken.
    pub mode: Mode,
}

impl Prices {
    /// The tier of a price.
    pub fn tier(&self, price: &str) -> Option<&TierName> {
        self.0.iter().find(|(id, _)| id.to_string() == price).map(|(_, tier)| tier)
    }

    /// The tiers that have a price.
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
            _ => Err("live or test is wanted"),
        }
    }
}

impl FromStr for Prices {
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
                format!("“{part}” is no price and tier; write them as price_123=studio, price_456=pro")
            })
        });
        prices.collect::<Result<_, _>>().map(Prices)
    }
}

impl fmt::Display for Prices {
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
    fn prices_are_read_with_their_tiers() {
        let prices: Prices = "price_1=studio , price_2 = pro,".parse().unwrap();
        assert_eq!(prices.to_string(), "price_1=studio, price_2=pro");
        assert_eq!(prices.tier("price_2").map(TierName::as_str), Some("pro"));
        assert_eq!(prices.tier("price_3"), None);
        assert_eq!(
            "price_1".parse::<Prices>().unwrap_err(),
            "“price_1” is no price and tier; write them as price_123=studio, price_456=pro"
        );
    }
}
