//! The full record of a project, as `GET /v1/project/{slug}` answers it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::site;
use super::summary::{Edition, Summary};
use crate::ids::Revision;
use crate::picture::{Colour, Picture};
use crate::record::{Detail, Record};
use crate::taste::{self, Dimension, Taste};

/// All members of a summary, and the rest of the record. A member without a recorded value is null, a list `[]`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Project<'a> {
    /// The project's summary.
    #[serde(flatten)]
    pub summary: Summary<'a>,
    /// The long text.
    pub description: Option<&'a str>,
    /// The design language.
    pub design_language: Option<&'a str>,
    /// Further facts in display order.
    pub details: &'a [Detail],
    /// The six taste dimensions.
    pub taste: TasteAnswer<'a>,
    /// The stored pictures in display order.
    pub images: Vec<Image<'a>>,
    /// The revision of the record, from 1.
    pub revision: Revision,
    /// The address to cite: this catalog's permanent page of the revision; renames do not change it.
    pub revision_url: String,
    /// When the record or the slug last changed.
    pub updated_at: Timestamp,
    /// The citation in the style or format that `cite` names, with `revision_url` as its address. Absent without `cite`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// The taste of a record; a dimension without a recorded text is null.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TasteAnswer<'a>(&'a Taste);

/// A stored picture.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Image<'a> {
    /// The URL of the picture as WebP.
    pub url: String,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// The alternative text.
    pub alt: Option<&'a str>,
    /// Whom to name with the picture, as recorded.
    pub credit: Option<&'a str>,
    /// What others may do with the picture, as recorded: a text or a URL.
    pub rights: Option<&'a str>,
    /// Up to six main colours as `#rrggbb`, by falling share of the area.
    #[schemars(with = "Vec<String>")]
    pub color_palette: Vec<Colour>,
}

impl<'a> Project<'a> {
    /// Returns the full record of a project. URLs of this site begin with [`site::SITE`].
    pub fn of(edition: &Edition<'a>, updated_at: Timestamp) -> Project<'a> {
        let Edition { revision, record, .. } = *edition;
        Project {
            summary: Summary::of(edition),
            description: record.description.as_deref(),
            design_language: record.design_language.as_deref(),
            details: &record.details,
            taste: TasteAnswer(&record.taste),
            images: images(record, edition.pictures),
            revision,
            revision_url: edition.revision_url(),
            updated_at,
            citation: None,
            ignored_parameters: Vec::new(),
        }
    }
}

/// Returns the record's stored pictures at their largest width, or else the stored copy of its thumbnail.
fn images<'a>(record: &'a Record, pictures: &BTreeMap<String, Picture>) -> Vec<Image<'a>> {
    let kept = record.pictures.iter().filter_map(|named| {
        let picture = pictures.get(&named.source)?;
        Some(Image {
            alt: named.alt.as_deref(),
            credit: named.credit.as_deref(),
            rights: named.rights.as_deref(),
            ..Image::of(picture)?
        })
    });
    let kept: Vec<Image<'a>> = kept.collect();
    if !kept.is_empty() {
        return kept;
    }
    let thumbnail = record.thumbnail.as_ref().and_then(|source| pictures.get(source));
    thumbnail.and_then(Image::of).into_iter().collect()
}

impl<'a> Image<'a> {
    /// Returns a picture without its recorded texts, or `None` if it has no rendition.
    fn of(picture: &Picture) -> Option<Image<'a>> {
        let width = picture.widths().last()?;
        Some(Image {
            url: site::picture(picture.id, width),
            width,
            height: picture.height_at(width),
            alt: None,
            credit: None,
            rights: None,
            color_palette: picture.palette.clone(),
        })
    }
}

impl Serialize for TasteAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = Dimension::ALL.map(|dimension| (dimension.as_str(), self.0.get(dimension)));
        serializer.collect_map(members)
    }
}

impl JsonSchema for TasteAnswer<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Taste".into()
    }

    fn schema_id() -> Cow<'static, str> {
        concat!(module_path!(), "::TasteAnswer").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": taste::properties(),
            "required": Dimension::ALL.map(Dimension::as_str),
            "description": "The six taste dimensions; one without a recorded value is null.",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::api::summary::{self, ConciseSummary, ListedSummary, ThumbnailState, concise};
    use crate::picture::{PictureFormat, PictureId};
    use crate::slug::Slug;

    static NONE: BTreeSet<String> = BTreeSet::new();

    fn edition<'a>(
        slug: &'a Slug,
        record: &'a Record,
        pictures: &'a BTreeMap<String, Picture>,
    ) -> Edition<'a> {
        let (revision, added_at) = (Revision::FIRST, Timestamp::UNIX_EPOCH);
        Edition { slug, revision, recorded_slug: slug, record, pictures, awaited: &NONE, added_at }
    }

    #[test]
    fn a_minimal_record_has_every_member_in_the_answer() {
        let slug: Slug = "a".parse().unwrap();
        let record: Record = serde_json::from_str(r#"{"name":"A","category":"art"}"#).unwrap();
        let none = BTreeMap::new();
        let project = Project::of(&edition(&slug, &record, &none), Timestamp::UNIX_EPOCH);
        let mut text = Vec::new();
        site::fill(&site::render(&project).unwrap(), "http://h", &mut text);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            concat!(
                r#"{"slug":"a","name":"A","studio":null,"city":null,"year":null,"category":"Art","intro":null,"#,
                r#""published":null,"thumbnail":null,"thumbnail_state":null,"url":"http://h/projects/a","citation_url":"http://h/cite/a/1","#,
                r#""provenance":{"curated_by":null,"selected":null,"in_archive_since":null,"note":null},"#,
                r#""added_at":"1970-01-01T00:00:00Z","description":null,"design_language":null,"details":[],"taste":{"material":null,"light":null,"#,
                r#""color":null,"mood":null,"composition":null,"subject":null},"images":[],"revision":1,"#,
                r#""revision_url":"http://h/cite/a/1","updated_at":"1970-01-01T00:00:00Z"}"#
            )
        );
    }

    #[test]
    fn a_concise_summary_has_seven_members_of_whatever_text() {
        let hostile = r#"","category":"Art","citation_url":"https://no","provenance":{ \\ ,"revision_url":"https://no" "#;
        let slug: Slug = "a".parse().unwrap();
        for text in [hostile, "Casa, Zürich 東京", "\n\t\u{1f600}", "x"] {
            let record = serde_json::json!({
                "name": text, "category": "art", "studio": text, "city": text, "year": "1998", "intro": text, "description": text,
                "design_language": text, "details": [{"label": text, "value": text}], "taste": {"mood": text},
                "provenance": {"curated_by": text, "note": text},
            });
            let record: Record = serde_json::from_value(record).unwrap();
            let none = BTreeMap::new();
            let edition = edition(&slug, &record, &none);
            let summary = site::render(&ListedSummary::of(&edition)).unwrap();
            let whole = site::render(&Project::of(&edition, Timestamp::UNIX_EPOCH)).unwrap();
            let expected = ConciseSummary {
                slug: "a",
                name: &record.name,
                studio: record.studio.as_deref(),
                city: record.city.as_deref(),
                year: record.year,
                citation_url: edition.citation_url(),
                revision_url: edition.revision_url(),
                citation: None,
            };
            let expected = site::render(&expected).unwrap();
            let mut listed = summary::listed(&whole).unwrap();
            listed.push(b'}');
            assert_eq!(listed, summary, "{text}");
            for rendered in [summary, whole] {
                assert_eq!(summary::revision_url(&rendered), Some(&b"\x01/cite/a/1"[..]));
                let mut concise = concise(&rendered).unwrap();
                concise.push(b'}');
                assert_eq!(concise, expected, "{text}");
            }
        }
        assert_eq!((concise(b"{}"), summary::listed(b"{}")), (None, None));
    }

    #[test]
    fn the_taste_of_a_record_is_found_whatever_its_texts_say() {
        let hostile = r#"","taste":{"material":"no"},"images":[ \\ "#;
        let slug: Slug = "a".parse().unwrap();
        for text in [hostile, "Eiche, 東京", "\n\t\u{1f600}"] {
            let record = serde_json::json!({
                "name": text, "category": "art", "intro": text, "description": text, "design_language": text,
                "details": [{"label": text, "value": text}], "taste": {"light": text, "subject": text},
            });
            let record: Record = serde_json::from_value(record).unwrap();
            let none = BTreeMap::new();
            let edition = edition(&slug, &record, &none);
            let whole = site::render(&Project::of(&edition, Timestamp::UNIX_EPOCH)).unwrap();
            let taste = serde_json::to_string(&TasteAnswer(&record.taste)).unwrap();
            let expected = format!(",\"taste\":{taste}");
            assert_eq!(summary::taste(&whole), Some(expected.as_bytes()), "{text}");
            assert_eq!(summary::taste(&site::render(&ListedSummary::of(&edition)).unwrap()), None);
        }
    }

    #[test]
    fn a_permanent_url_has_the_slug_at_the_time_of_the_revision() {
        let (slug, former): (Slug, Slug) = ("now".parse().unwrap(), "then".parse().unwrap());
        let own = r#"{"name":"A","category":"art","citation_url":"https://m.org/1"}"#;
        for (text, citation) in
            [(r#"{"name":"A","category":"art"}"#, "\u{1}/cite/then/1"), (own, "https://m.org/1")]
        {
            let record: Record = serde_json::from_str(text).unwrap();
            let none = BTreeMap::new();
            let edition = Edition { recorded_slug: &former, ..edition(&slug, &record, &none) };
            let project = Project::of(&edition, Timestamp::UNIX_EPOCH);
            assert_eq!((project.summary.slug, project.summary.url.as_str()), ("now", "\u{1}/projects/now"));
            assert_eq!(
                (project.summary.citation_url.as_str(), project.revision_url.as_str()),
                (citation, "\u{1}/cite/then/1")
            );
        }
    }

    #[test]
    fn a_stored_thumbnail_is_the_image_of_a_record_without_pictures() {
        let slug: Slug = "a".parse().unwrap();
        let picture = |byte| Picture {
            id: PictureId([byte; 32]),
            format: PictureFormat::Jpeg,
            width: 400,
            height: 300,
            palette: vec![Colour([byte; 3])],
        };
        let thumbnail = "https://m.org/t.jpg";
        let mut pictures = BTreeMap::from([(thumbnail.to_owned(), picture(10))]);
        let text = r#"{"name":"A","category":"art","thumbnail":"https://m.org/t.jpg","pictures":[{"source":"b.png"}]}"#;
        let record: Record = serde_json::from_str(text).unwrap();
        let urls = |pictures: &BTreeMap<String, Picture>| {
            let project = Project::of(&edition(&slug, &record, pictures), Timestamp::UNIX_EPOCH);
            assert_eq!(project.summary.thumbnail.as_deref(), Some(thumbnail), "the record's own stays");
            project.images.into_iter().map(|image| image.url).collect::<Vec<_>>()
        };
        let url = |byte: u8| site::picture(PictureId([byte; 32]), 400);
        assert_eq!(urls(&pictures), [url(10)]);
        pictures.insert("b.png".to_owned(), picture(11));
        assert_eq!(urls(&pictures), [url(11)]);
    }

    #[test]
    fn a_thumbnail_is_waited_for_only_while_there_is_none() {
        let slug: Slug = "a".parse().unwrap();
        let awaited = BTreeSet::from(["https://m.org/b.jpg".to_owned()]);
        let picture = Picture {
            id: PictureId([10; 32]),
            format: PictureFormat::Jpeg,
            width: 400,
            height: 300,
            palette: Vec::new(),
        };
        let kept = BTreeMap::from([("a.png".to_owned(), picture)]);
        let (none, waiting) = (BTreeMap::new(), Some(ThumbnailState::Waiting));
        let of = |members: &str, pictures: &BTreeMap<String, Picture>, awaited: &BTreeSet<String>| {
            let record = format!(r#"{{"name":"A","category":"art",{members}}}"#);
            let record: Record = serde_json::from_str(&record).unwrap();
            let edition = Edition { awaited, ..edition(&slug, &record, pictures) };
            let summary = Summary::of(&edition);
            (summary.thumbnail.is_some(), summary.thumbnail_state)
        };
        let both = r#""pictures":[{"source":"a.png"},{"source":"https://m.org/b.jpg"}]"#;
        assert_eq!(of(both, &none, &awaited), (false, waiting));
        assert_eq!(of(both, &kept, &awaited), (true, None), "the first is there");
        assert_eq!(of(both, &none, &NONE), (false, None), "it was refused");
        assert_eq!(
            of(r#""pictures":[{"source":"a.png"}]"#, &none, &awaited),
            (false, None),
            "another revision names it"
        );
        assert_eq!(
            of(r#""thumbnail":"https://m.org/b.jpg""#, &none, &awaited),
            (true, None),
            "its own is shown"
        );
        let record: Record =
            serde_json::from_str(&format!(r#"{{"name":"A","category":"art",{both}}}"#)).unwrap();
        let edition = Edition { awaited: &awaited, ..edition(&slug, &record, &none) };
        let text = String::from_utf8(site::render(&ListedSummary::of(&edition)).unwrap()).unwrap();
        assert!(text.contains(r#""thumbnail":null,"thumbnail_state":"waiting","url":"#), "{text}");
    }

    #[test]
    fn stored_pictures_keep_the_records_order_and_the_first_represents_the_project() {
        let slug: Slug = "a".parse().unwrap();
        let text = r#"{"name":"A","category":"art","pictures":[{"source":"gone.png"},{"source":"b.png","alt":"A pear","credit":"Ann B","rights":"CC BY 4.0"},{"source":"a.png"}]}"#;
        let record: Record = serde_json::from_str(text).unwrap();
        let picture = |byte, width| Picture {
            id: PictureId([byte; 32]),
            format: PictureFormat::Png,
            width,
            height: width / 2,
            palette: vec![Colour([byte; 3])],
        };
        let pictures = BTreeMap::from([
            ("a.png".to_owned(), picture(10, 100)),
            ("b.png".to_owned(), picture(11, 2_000)),
        ]);
        let project = Project::of(&edition(&slug, &record, &pictures), Timestamp::UNIX_EPOCH);
        assert_eq!(
            project.summary.thumbnail,
            Some(format!("{}/media/{}/640.webp", site::SITE, "0b".repeat(32)))
        );
        let expected = [
            (11, 1280, 640, Some(("A pear", "Ann B", "CC BY 4.0")), "#0b0b0b"),
            (10, 100, 50, None, "#0a0a0a"),
        ]
        .map(|(byte, width, height, texts, colour)| Image {
            url: format!("{}/media/{}/{width}.webp", site::SITE, PictureId([byte; 32])),
            width,
            height,
            alt: texts.map(|(alt, ..)| alt),
            credit: texts.map(|(_, credit, _)| credit),
            rights: texts.map(|(.., rights)| rights),
            color_palette: vec![colour.to_owned().try_into().unwrap()],
        });
        assert_eq!(project.images, expected);
    }
}
