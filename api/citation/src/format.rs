//! The formats of a citation, and their negotiation.

/// A format of a citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The page for people.
    Html,
    /// JSON-LD with the vocabulary of schema.org.
    JsonLd,
    /// One `@misc` entry of BibTeX.
    BibTex,
    /// RIS, which most reference managers import.
    Ris,
    /// CSL-JSON.
    CslJson,
    /// A line of plain text.
    Text,
}

impl Format {
    /// All formats, the page for people first.
    pub const ALL: [Format; 6] =
        [Format::Html, Format::JsonLd, Format::BibTex, Format::Ris, Format::CslJson, Format::Text];

    /// Returns its name in the parameter `format`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Html => "html",
            Format::JsonLd => "jsonld",
            Format::BibTex => "bibtex",
            Format::Ris => "ris",
            Format::CslJson => "csl",
            Format::Text => "text",
        }
    }

    /// Returns its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Format::Html => "Page",
            Format::JsonLd => "JSON-LD",
            Format::BibTex => "BibTeX",
            Format::Ris => "RIS",
            Format::CslJson => "CSL-JSON",
            Format::Text => "Text",
        }
    }

    /// Returns its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Format::Html => "text/html",
            Format::JsonLd => "application/ld+json",
            Format::BibTex => "application/x-bibtex",
            Format::Ris => "application/x-research-info-systems",
            Format::CslJson => "application/vnd.citationstyles.csl+json",
            Format::Text => "text/x-bibliography",
        }
    }

    /// Returns its media type with the charset, if that is not always UTF-8.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Html => "text/html; charset=utf-8",
            Format::JsonLd | Format::CslJson => self.media_type(),
            Format::BibTex => "application/x-bibtex; charset=utf-8",
            Format::Ris => "application/x-research-info-systems; charset=utf-8",
            Format::Text => "text/x-bibliography; charset=utf-8",
        }
    }

    /// Returns the extension of a file, for formats that are downloaded.
    pub fn extension(self) -> Option<&'static str> {
        match self {
            Format::Html | Format::Text => None,
            Format::JsonLd => Some("jsonld"),
            Format::BibTex => Some("bib"),
            Format::Ris => Some("ris"),
            Format::CslJson => Some("json"),
        }
    }

    /// Returns the format with this name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the names of all formats, for people.
    pub fn names() -> String {
        Format::ALL.map(Format::name).join(", ")
    }

    /// Returns the format that `Accept` prefers (RFC 9110). Between equals the one that is named exactly wins, then the page; a client
    /// that accepts none gets the page, which is more useful than a 406. Plain `application/json` selects JSON-LD.
    pub fn accepted(accept: &str) -> Format {
        let mut best = (Format::Html, 0, 0);
        for format in Format::ALL {
            let (exactness, weight) = wish(accept, format.media_type());
            if weight > 0 && (weight, exactness) > (best.1, best.2) {
                best = (format, weight, exactness);
            }
        }
        let (exactness, weight) = wish(accept, "application/json");
        if exactness == 3 && (weight, exactness) > (best.1, best.2) { Format::JsonLd } else { best.0 }
    }
}

/// Returns how exactly a list names a media type, and its weight in thousandths; the most exact entry counts.
fn wish(accept: &str, media_type: &str) -> (u8, u16) {
    let mut wish = (0, 0);
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let whole = media_type.split_once('/').map_or("", |(kind, _)| kind);
        let exactness = match range {
            _ if range.eq_ignore_ascii_case(media_type) => 3,
            "*/*" => 1,
            _ if range.strip_suffix("/*").is_some_and(|kind| kind.eq_ignore_ascii_case(whole)) => 2,
            _ => continue,
        };
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        // An invalid weight is ignored.
        let weight = weight.map_or(1.0, |weight| weight.trim().parse::<f32>().unwrap_or(0.0));
        if exactness > wish.0 {
            wish = (exactness, (weight.clamp(0.0, 1.0) * 1000.0) as u16);
        }
    }
    wish
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_that_is_wanted_most_is_taken() {
        for (accept, format) in [
            ("", Format::Html),
            ("*/*", Format::Html),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8", Format::Html),
            ("application/x-bibtex", Format::BibTex),
            ("Application/X-BibTeX; charset=utf-8", Format::BibTex),
            ("application/x-bibtex, */*", Format::BibTex),
            ("application/x-bibtex;q=0.5, text/html;q=0.4", Format::BibTex),
            ("application/x-bibtex;q=0.4, text/html;q=0.5", Format::Html),
            ("application/ld+json;profile=\"x\", application/json", Format::JsonLd),
            ("application/vnd.citationstyles.csl+json, application/ld+json;q=0.9", Format::CslJson),
            ("application/x-research-info-systems;Q=0.1, text/turtle", Format::Ris),
            ("text/x-bibliography; style=apa", Format::Text),
            ("text/*", Format::Html),
            ("text/*, text/html;q=0", Format::Text),
            ("application/*", Format::JsonLd),
            ("application/json", Format::JsonLd),
            ("application/json, text/plain, */*", Format::JsonLd),
            ("text/html, application/json;q=0.9", Format::Html),
            ("application/json, application/x-bibtex", Format::BibTex),
            ("application/x-bibtex;q=0, */*;q=0.1", Format::Html),
            ("text/html;q=0", Format::Html),
            ("text/turtle", Format::Html),
            ("application/ld+json;q=nonsense", Format::Html),
            (",;,/,;q=", Format::Html),
        ] {
            assert_eq!(Format::accepted(accept), format, "{accept:?}");
        }
    }

    #[test]
    fn a_name_leads_to_its_format() {
        for format in Format::ALL {
            assert_eq!(Format::named(format.name()), Some(format));
            assert!(format.content_type().starts_with(format.media_type()));
        }
        assert_eq!(Format::named("HTML"), None);
        assert_eq!(Format::names(), "html, jsonld, bibtex, ris, csl, text");
    }
}
