//! The citation that an answer adds to a record, in the style or format that the parameter `cite` names.

use bytes::Bytes;
use citation::{Citation, CitedRecord, Format};

use crate::error::ApiError;
use crate::query::QueryParams;
use crate::site::Site;

/// A style of bibliographies, or a format of reference managers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CiteStyle(Format);

impl CiteStyle {
    /// All names, the styles first.
    pub const NAMES: [&'static str; 6] = ["apa", "chicago", "mla", "bibtex", "ris", "csl"];

    /// What is wrong with any other name.
    pub const REFUSED: &'static str = "It is no known style or format of citations.";

    /// Parses a name, ignoring case and surrounding white space. Other names of the formats are understood, too.
    pub fn parse(text: &str) -> Option<CiteStyle> {
        let format = Format::named(text.trim())?;
        CiteStyle::NAMES.contains(&format.name()).then_some(CiteStyle(format))
    }

    /// Returns the parameter `cite`; `None` is no citation.
    pub fn of<const N: usize>(sent: &mut QueryParams<'_, N>) -> Option<CiteStyle> {
        sent.one_of("cite", CiteStyle::parse, CiteStyle::REFUSED, &CiteStyle::NAMES)
    }

    /// Returns the citation of a rendered record: the text of the page of its revision in this format, without the line break at its
    /// end. Its address is that of the revision. There is no date of access, since a revision does not change.
    ///
    /// # Errors
    ///
    /// If the rendered form is not a record.
    pub fn citation(self, record: &Bytes, site: &Site) -> Result<String, ApiError> {
        let record = CitedRecord::read(record, site.as_str()).map_err(ApiError::internal)?;
        let mut text = Citation::of(&record, site.publisher()).write(self.0).unwrap_or_default();
        text.truncate(text.trim_end_matches(['\r', '\n']).len());
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_is_one_of_six_names_in_any_case() {
        for name in CiteStyle::NAMES {
            let style = CiteStyle::parse(name);
            assert_eq!(style.map(|CiteStyle(format)| format.name()), Some(name));
            assert_eq!(CiteStyle::parse(&format!(" {}\n", name.to_uppercase())), style);
        }
        assert_eq!(CiteStyle::parse("BIB"), CiteStyle::parse("bibtex"));
        assert_eq!(CiteStyle::parse("csl-json"), CiteStyle::parse("csl"));
        for other in ["", "html", "jsonld", "text", "harvard", "apa,mla"] {
            assert_eq!(CiteStyle::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_citation_has_the_address_of_the_revision_and_no_line_break_at_its_end() {
        let site: Site = "https://x.org/a".parse().unwrap();
        let record = serde_json::json!({
            "slug": "now", "name": "A", "studio": "B & C", "city": null, "year": null, "category": "Art", "intro": null,
            "published": null, "thumbnail": null, "url": "u", "citation_url": "https://m.org/1",
            "provenance": {"curated_by": null, "selected": null, "in_archive_since": null, "note": null},
            "added_at": "2026-11-20T08:00:00Z", "description": null, "design_language": null, "details": [], "taste": {},
            "images": [], "revision": 2, "revision_url": "S/cite/then/2", "updated_at": "2026-11-20T08:00:00Z",
        });
        let record = Bytes::from(record.to_string().replace('S', "\u{1}"));
        let cited = |name| CiteStyle::parse(name).unwrap().citation(&record, &site).unwrap();
        assert_eq!(
            cited("apa"),
            "B & C. (n.d.). A (Revision 2) [Artwork]. x.org. https://x.org/a/cite/then/2"
        );
        assert_eq!(
            cited("bibtex"),
            concat!(
                "@misc{now-2,\n  title = {{A}},\n  author = {{B \\& C}},\n  howpublished = {x.org},\n",
                "  url = {https://x.org/a/cite/then/2},\n  note = {Revision 2 of 2026-11-20.},\n}"
            )
        );
        assert!(cited("ris").ends_with("UR  - https://x.org/a/cite/then/2\r\nER  - "));
        let csl: serde_json::Value = serde_json::from_str(&cited("csl")).unwrap();
        assert_eq!((&csl[0]["URL"], csl[0].get("accessed")), (&"https://x.org/a/cite/then/2".into(), None));
        assert!(CiteStyle::parse("mla").unwrap().citation(&Bytes::from_static(b"{}"), &site).is_err());
    }
}
