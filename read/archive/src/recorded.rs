//! Which members of a project have a recorded value, a bit for each.

#[cfg(feature = "apply")]
use schemas::record::{PictureSource, Record};
#[cfg(feature = "apply")]
use schemas::taste::Dimension;

/// A member of a project that may be without a value. Its bit in [`Recorded`] is its index in [`Member::ALL`]; a new one goes to the end
/// of both, and another order needs another [`super::LAYOUT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Member {
    /// The maker.
    Studio,
    /// The place.
    City,
    /// The year.
    Year,
    /// The short introduction.
    Intro,
    /// The long text.
    Description,
    /// The design language.
    DesignLanguage,
    /// At least one further fact.
    Details,
    /// A text in at least one dimension of taste.
    Taste,
    /// The dimension of this name, like the five that follow.
    Material,
    /// As above.
    Light,
    /// As above.
    Color,
    /// As above.
    Mood,
    /// As above.
    Composition,
    /// As above.
    Subject,
    /// A picture to show in lists, here or elsewhere.
    Thumbnail,
    /// At least one picture that is stored here.
    Images,
    /// The alternative text of at least one picture.
    Alt,
    /// Whom to name with at least one picture.
    Credit,
    /// What others may do with at least one picture.
    Rights,
    /// The day of publication.
    Published,
    /// The curator.
    CuratedBy,
    /// The day on which a curator selected it.
    Selected,
    /// The year since which it has been in the archive.
    InArchiveSince,
    /// The curator's note.
    Note,
    /// A page elsewhere.
    Url,
    /// An address elsewhere to cite.
    CitationUrl,
}

impl Member {
    /// The number of members.
    pub const COUNT: usize = 26;

    /// All members in display order.
    pub const ALL: [Member; Member::COUNT] = [
        Member::Studio,
        Member::City,
        Member::Year,
        Member::Intro,
        Member::Description,
        Member::DesignLanguage,
        Member::Details,
        Member::Taste,
        Member::Material,
        Member::Light,
        Member::Color,
        Member::Mood,
        Member::Composition,
        Member::Subject,
        Member::Thumbnail,
        Member::Images,
        Member::Alt,
        Member::Credit,
        Member::Rights,
        Member::Published,
        Member::CuratedBy,
        Member::Selected,
        Member::InArchiveSince,
        Member::Note,
        Member::Url,
        Member::CitationUrl,
    ];

    /// Returns the name in answers, where some are within `taste`, `images` or `provenance`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Member::Studio => "studio",
            Member::City => "city",
            Member::Year => "year",
            Member::Intro => "intro",
            Member::Description => "description",
            Member::DesignLanguage => "design_language",
            Member::Details => "details",
            Member::Taste => "taste",
            Member::Material => "material",
            Member::Light => "light",
            Member::Color => "color",
            Member::Mood => "mood",
            Member::Composition => "composition",
            Member::Subject => "subject",
            Member::Thumbnail => "thumbnail",
            Member::Images => "images",
            Member::Alt => "alt",
            Member::Credit => "credit",
            Member::Rights => "rights",
            Member::Published => "published",
            Member::CuratedBy => "curated_by",
            Member::Selected => "selected",
            Member::InArchiveSince => "in_archive_since",
            Member::Note => "note",
            Member::Url => "url",
            Member::CitationUrl => "citation_url",
        }
    }

    /// Returns whether a record has a value, of pictures whether it names any: which of them are stored, events say.
    #[cfg(feature = "apply")]
    fn is_in(self, record: &Record) -> bool {
        let provenance = &record.provenance;
        let of_taste = |dimension| record.taste.get(dimension).is_some();
        let of_picture = |text: fn(&PictureSource) -> bool| record.pictures.iter().any(text);
        match self {
            Member::Studio => record.studio.is_some(),
            Member::City => record.city.is_some(),
            Member::Year => record.year.is_some(),
            Member::Intro => record.intro.is_some(),
            Member::Description => record.description.is_some(),
            Member::DesignLanguage => record.design_language.is_some(),
            Member::Details => !record.details.is_empty(),
            Member::Taste => !record.taste.is_empty(),
            Member::Material => of_taste(Dimension::Material),
            Member::Light => of_taste(Dimension::Light),
            Member::Color => of_taste(Dimension::Color),
            Member::Mood => of_taste(Dimension::Mood),
            Member::Composition => of_taste(Dimension::Composition),
            Member::Subject => of_taste(Dimension::Subject),
            Member::Thumbnail | Member::Images => record.picture_sources().next().is_some(),
            Member::Alt => of_picture(|picture| picture.alt.is_some()),
            Member::Credit => of_picture(|picture| picture.credit.is_some()),
            Member::Rights => of_picture(|picture| picture.rights.is_some()),
            Member::Published => record.published.is_some(),
            Member::CuratedBy => provenance.curated_by.is_some(),
            Member::Selected => provenance.selected.is_some(),
            Member::InArchiveSince => provenance.in_archive_since.is_some(),
            Member::Note => provenance.note.is_some(),
            Member::Url => record.url.is_some(),
            Member::CitationUrl => record.citation_url.is_some(),
        }
    }
}

/// The members of a project that have a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Recorded(u32);

impl Recorded {
    /// Returns the members of these bits.
    pub(super) fn of_bits(bits: u32) -> Recorded {
        Recorded(bits)
    }

    /// Returns the members that have a value in a record.
    #[cfg(feature = "apply")]
    pub(super) fn of(record: &Record) -> Recorded {
        let none = Recorded::default();
        Member::ALL.into_iter().fold(none, |recorded, member| recorded.with(member, member.is_in(record)))
    }

    /// Returns the same members but for one.
    #[cfg(feature = "apply")]
    pub(super) fn with(self, member: Member, has_value: bool) -> Recorded {
        let bit = 1 << member as u32;
        Recorded(if has_value { self.0 | bit } else { self.0 & !bit })
    }

    #[cfg(feature = "apply")]
    pub(super) fn bits(self) -> u32 {
        self.0
    }

    /// Returns 1 for a member that has a value, otherwise 0.
    pub(super) fn count_of(self, member: Member) -> u32 {
        (self.0 >> member as u32) & 1
    }
}

#[cfg(all(test, feature = "apply"))]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn each_member_has_a_bit_and_a_name_of_its_own() {
        let names: BTreeSet<&str> = Member::ALL.into_iter().map(Member::as_str).collect();
        assert_eq!(names.len(), Member::COUNT);
        for (index, member) in Member::ALL.into_iter().enumerate() {
            assert_eq!(member as usize, index, "{member:?}");
            assert_eq!(Recorded::default().with(member, true).bits(), 1 << index);
        }
    }

    #[test]
    fn a_member_is_recorded_where_the_record_has_it() {
        let has = |more: Value| {
            let mut record = json!({"name": "A", "category": "art"});
            record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let recorded = Recorded::of(&serde_json::from_value(record).unwrap());
            let found = Member::ALL.into_iter().filter(|member| recorded.count_of(*member) == 1);
            found.map(Member::as_str).collect::<Vec<_>>()
        };
        assert!(has(json!({})).is_empty());
        for name in ["studio", "city", "intro", "description", "design_language", "url", "citation_url"] {
            assert_eq!(has(json!({name: "x"})), [name]);
        }
        for (name, value) in [
            ("year", json!("1998")),
            ("published", json!("2020-01-02")),
            ("details", json!([{"label": "Area", "value": "9 m²"}])),
        ] {
            assert_eq!(has(json!({name: value})), [name]);
        }
        for dimension in Dimension::ALL.map(Dimension::as_str) {
            assert_eq!(has(json!({"taste": {dimension: "the"}})), ["taste", dimension], "of a stop word too");
        }
        let provenance = [
            ("curated_by", json!("Ann")),
            ("selected", json!("2021-03-04")),
            ("in_archive_since", json!(2_011)),
        ];
        for (name, value) in provenance.into_iter().chain([("note", json!("Calm."))]) {
            assert_eq!(has(json!({"provenance": {name: value}})), [name]);
        }
        for text in ["alt", "credit", "rights"] {
            let pictures = json!([{"source": "a.png"}, {"source": "b.png", text: "x"}]);
            assert_eq!(has(json!({"pictures": pictures})), ["thumbnail", "images", text]);
        }
        assert_eq!(has(json!({"thumbnail": "https://m.org/t.jpg"})), ["thumbnail", "images"]);
    }
}
