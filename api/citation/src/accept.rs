//! The header `Accept` (RFC 9110): which media types a client wants, and which it refuses with a weight of zero.

/// What a list of media ranges says about a media type; the most exact range counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// How exactly the list names it: 3 for its name, 2 for its kind (`text/*`), 1 for all (`*/*`), 0 for not at all.
    pub exactness: u8,
    /// The weight in thousandths; 0 if it is not named.
    pub weight: u16,
}

impl Wish {
    /// Returns what `accept`, the value of the header, says about a media type. A weight that cannot be read is zero.
    pub fn of(accept: &str, media_type: &str) -> Wish {
        let mut wish = Wish { exactness: 0, weight: 0 };
        let kind = media_type.split_once('/').map_or("", |(kind, _)| kind);
        for range in accept.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let range = parts.next().unwrap_or_default();
            let exactness = match range {
                _ if range.eq_ignore_ascii_case(media_type) => 3,
                "*/*" => 1,
                _ if range.strip_suffix("/*").is_some_and(|of| of.eq_ignore_ascii_case(kind)) => 2,
                _ => continue,
            };
            if exactness > wish.exactness {
                wish = Wish { exactness, weight: weight(parts) };
            }
        }
        wish
    }

    /// Returns whether the client takes the media type.
    pub fn is_wanted(self) -> bool {
        self.weight > 0
    }

    /// Returns whether the client names the media type, or all of its kind, in order not to get it.
    pub fn is_refused(self) -> bool {
        self.exactness > 0 && self.weight == 0
    }
}

/// Returns the weight among the parameters of a media range, in thousandths.
fn weight<'a>(mut parameters: impl Iterator<Item = &'a str>) -> u16 {
    let weight = parameters
        .find_map(|parameter| parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q=")));
    let weight = weight.map_or(1.0, |weight| weight.trim().parse::<f32>().unwrap_or(0.0));
    (weight.clamp(0.0, 1.0) * 1000.0) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_exact_range_counts() {
        for (accept, exactness, weight) in [
            ("", 0, 0),
            ("text/html", 3, 1000),
            ("*/*, TEXT/HTML;level=1;Q=0.5", 3, 500),
            ("text/*;q=0.25, */*", 2, 250),
            ("application/json, */*;q=0.1", 1, 100),
            ("text/html;q=0, */*", 3, 0),
            ("text/html; q=0.000", 3, 0),
            ("text/html;q=nonsense", 3, 0),
            ("text/plain;q=0", 0, 0),
        ] {
            let wish = Wish::of(accept, "text/html");
            assert_eq!(wish, Wish { exactness, weight }, "{accept}");
            assert_eq!((wish.is_wanted(), wish.is_refused()), (weight > 0, exactness > 0 && weight == 0));
        }
    }
}
