//! The formats of a citation, and their negotiation.

use crate::accept::Wish;
use crate::style::Style;

/// Other names of formats, under which reference managers and media types know them.
const ALIASES: [(&str, Format); 3] =
    [("csl-json", Format::CslJson), ("json-ld", Format::JsonLd), ("bib", Format::BibTex)];

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
    /// A line of plain text in a style of bibliographies.
    Styled(Style),
}

impl Format {
    /// All formats with a media type of their own, by which a client may ask for them; the page for people first.
    pub const ALL: [Format; 6] =
        [Format::Html, Format::JsonLd, Format::BibTex, Format::Ris, Format::CslJson, Format::Text];

    /// All styles as formats, in alphabetical order.
    pub const STYLES: [Format; 3] =
        [Format::Styled(Style::Apa), Format::Styled(Style::Chicago), Format::Styled(Style::Mla)];

    /// Returns its name in the parameter `format`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Html => "html",
            Format::JsonLd => "jsonld",
            Format::BibTex => "bibtex",
            Format::Ris => "ris",
            Format::CslJson => "csl",
            Format::Text => "text",
            Format::Styled(Style::Apa) => "apa",
            Format::Styled(Style::Chicago) => "chicago",
            Format::Styled(Style::Mla) => "mla",
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
            Format::Styled(style) => style.name(),
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
            Format::Styled(_) => "text/plain",
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
            Format::Styled(_) => "text/plain; charset=utf-8",
        }
    }

    /// Returns the extension of a file, for formats that are downloaded.
    pub fn extension(self) -> Option<&'static str> {
        match self {
            Format::Html | Format::Text | Format::Styled(_) => None,
            Format::JsonLd => Some("jsonld"),
            Format::BibTex => Some("bib"),
            Format::Ris => Some("ris"),
            Format::CslJson => Some("json"),
        }
    }

    /// Returns the format with this name, or with another name under which it is known, in any case.
    pub fn named(name: &str) -> Option<Format> {
        let named = Format::all().find(|format| format.name().eq_ignore_ascii_case(name));
        let alias = || ALIASES.into_iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
        named.or_else(|| alias().map(|(_, format)| format))
    }

    /// Returns the names of all formats, for people.
    pub fn names() -> String {
        Format::all().map(Format::name).collect::<Vec<_>>().join(", ")
    }

    /// Iterates over all formats and styles.
    fn all() -> impl Iterator<Item = Format> {
        Format::ALL.into_iter().chain(Format::STYLES)
    }

    /// Returns the format that `Accept` prefers (RFC 9110). Between equals the one that is named exactly wins, then the page. A client
    /// that accepts none gets the page, which is more useful than a 406, or the first format that it does not refuse (`q=0`). Plain
    /// `application/json` selects JSON-LD.
    pub fn accepted(accept: &str) -> Format {
        let formats = Format::ALL.map(|format| (format, Wish::of(accept, format.media_type())));
        let mut best: Option<(Format, Wish)> = None;
        for (format, wish) in formats.into_iter().filter(|(_, wish)| wish.is_wanted()) {
            if best.is_none_or(|(_, best)| (wish.weight, wish.exactness) > (best.weight, best.exactness)) {
                best = Some((format, wish));
            }
        }
        let json = Wish::of(accept, "application/json");
        let takes_json_ld = !Wish::of(accept, Format::JsonLd.media_type()).is_refused();
        if takes_json_ld && json.exactness == 3 && json.is_wanted() {
            let json = (json.weight, json.exactness);
            if best.is_none_or(|(_, best)| json > (best.weight, best.exactness)) {
                return Format::JsonLd;
            }
        }
        let not_refused = || formats.into_iter().find(|(_, wish)| !wish.is_refused());
        best.or_else(not_refused).map_or(Format::Html, |(format, _)| format)
    }
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
            ("text/html;q=0", Format::JsonLd),
            ("text/html;q=0, text/plain", Format::JsonLd),
            ("text/*;q=0, application/pdf", Format::JsonLd),
            ("text/html;q=0, application/*;q=0", Format::Text),
            ("application/*;q=0", Format::Html),
            ("application/json, application/ld+json;q=0", Format::Html),
            ("application/json, application/ld+json;q=0, text/html;q=0", Format::BibTex),
            ("*/*;q=0, application/json;q=0", Format::Html),
            ("*/*, application/json;q=0", Format::Html),
            ("text/turtle", Format::Html),
            ("application/ld+json;q=nonsense", Format::Html),
            (",;,/,;q=", Format::Html),
        ] {
            assert_eq!(Format::accepted(accept), format, "{accept:?}");
        }
    }

    #[test]
    fn a_name_leads_to_its_format() {
        for format in Format::all() {
            assert_eq!(Format::named(format.name()), Some(format));
            assert_eq!(Format::named(&format.name().to_uppercase()), Some(format));
            assert!(format.content_type().starts_with(format.media_type()));
        }
        for (alias, name) in [("csl-json", "csl"), ("JSON-LD", "jsonld"), ("bib", "bibtex")] {
            assert_eq!(Format::named(alias), Format::named(name), "{alias}");
        }
        assert_eq!([Format::named("json"), Format::named(" apa"), Format::named("")], [None; 3]);
        assert_eq!(Format::names(), "html, jsonld, bibtex, ris, csl, text, apa, chicago, mla");
    }
}
