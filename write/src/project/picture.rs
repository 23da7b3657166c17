//! Attaches pictures, and records the outcome of fetching them.

use schemas::event::{Event, PictureAttached, PictureRefused};
use schemas::picture::Picture;
use schemas::record::PictureSource;
use schemas::slug::Slug;
use schemas::text::canonical;
use serde_json::Map;

use super::{Listing, PictureOutcome, Project, Rejection, revise};

/// Attaches a stored picture to the project requested as `slug`. If the record does not name its source yet, the source is
/// added after the others. Given texts replace those of the record.
pub fn attach(
    project: &Project,
    slug: &Slug,
    named: &PictureSource,
    picture: Picture,
) -> Result<Vec<Event>, Rejection> {
    let listing = project.listed(slug)?;
    // As the record has it, so that both are the same picture.
    let named = &PictureSource { source: canonical(&named.source).into_owned(), ..named.clone() };
    let mut events = name_picture(project, listing, slug, named)?;
    events.extend(listing.attached(&named.source, picture));
    Ok(events)
}

/// Attaches a stored picture to a source that the record names already, among its pictures or as its thumbnail; the record is
/// unchanged.
pub fn attach_to_source(
    project: &Project,
    slug: &Slug,
    source: &str,
    picture: Picture,
) -> Result<Vec<Event>, Rejection> {
    let listing = project.listed(slug)?;
    let source = canonical(source);
    let source = &*source;
    if !listing.record.picture_sources().any(|named| named == source) {
        return Err(Rejection::invalid(source, "is not named by the record any more"));
    }
    Ok(listing.attached(source, picture).into_iter().collect())
}

/// Records the outcome of fetching a source that the record names. No events if the project is withdrawn or no longer names the
/// source; a stored picture stays, whatever its source returns later.
pub fn record_fetch(project: &Project, source: &str, found: Result<Picture, String>) -> Vec<Event> {
    let Project::Listed(listing) = project else { return Vec::new() };
    if !listing.record.picture_sources().any(|named| named == source) {
        return Vec::new();
    }
    match found {
        Ok(picture) => listing.attached(source, picture).into_iter().collect(),
        Err(_) if listing.pictures.contains_key(source) => Vec::new(),
        Err(reason) => {
            vec![Event::PictureRefused(PictureRefused { source: source.to_owned(), reason })]
        }
    }
}

impl Listing {
    /// No events if this picture is attached already.
    fn attached(&self, source: &str, picture: Picture) -> Option<Event> {
        let known =
            matches!(self.pictures.get(source), Some(PictureOutcome::Attached(known)) if *known == picture);
        (!known).then(|| Event::PictureAttached(PictureAttached { source: source.to_owned(), picture }))
    }
}

/// Adds a picture to the record by a revision, so that the rules for records apply.
fn name_picture(
    project: &Project,
    listing: &Listing,
    slug: &Slug,
    wanted: &PictureSource,
) -> Result<Vec<Event>, Rejection> {
    let mut pictures = listing.record.pictures.clone();
    match pictures.iter_mut().find(|named| named.source == wanted.source) {
        Some(named) => named.update(wanted),
        None => pictures.push(wanted.clone()),
    }
    if pictures == listing.record.pictures {
        return Ok(Vec::new());
    }
    let pictures = serde_json::to_value(pictures)
        .map_err(|error| Rejection::invalid("pictures", format!("cannot be named: {error}")))?;
    revise(project, slug, Map::from_iter([("pictures".to_owned(), pictures)]))
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::*;

    /// Attaches the picture with this byte.
    fn attaching(
        source: &str,
        alt: Option<&str>,
        byte: u8,
    ) -> impl FnOnce(&Project) -> Result<Vec<Event>, Rejection> {
        let named = PictureSource { alt: alt.map(str::to_owned), ..PictureSource::of(source) };
        move |project| attach(project, &slug(), &named, picture(byte))
    }

    fn attached(source: &str, byte: u8) -> Event {
        Event::PictureAttached(PictureAttached { source: source.into(), picture: picture(byte) })
    }

    fn refused(source: &str, reason: &str) -> Event {
        Event::PictureRefused(PictureRefused { source: source.into(), reason: reason.into() })
    }

    /// The record of [`selected`] with these pictures.
    fn naming(pictures: &str) -> Event {
        revised_so(&format!(
            r#"{{"slug":"a","name":"First","category":"art","studio":"Nord","taste":{{"material":"oak"}},"provenance":{{"note":"seen"}},"pictures":{pictures}}}"#
        ))
    }

    fn slug() -> Slug {
        "a".parse().unwrap()
    }

    #[test]
    fn a_picture_is_named_and_attached() {
        given(&[selected()])
            .when(attaching("p.jpg", Some("A door"), 1))
            .then(&[naming(r#"[{"source":"p.jpg","alt":"A door"}]"#), attached("p.jpg", 1)]);
    }

    #[test]
    fn a_picture_that_is_named_already_is_only_attached_and_keeps_its_alt() {
        let past = [selected(), naming(r#"[{"source":"p.jpg","alt":"A door"},"q.jpg"]"#)];
        given(&past).when(attaching("p.jpg", None, 1)).then(&[attached("p.jpg", 1)]);
        given(&past).when(attaching("q.jpg", Some("A hinge"), 1)).then(&[
            naming(r#"[{"source":"p.jpg","alt":"A door"},{"source":"q.jpg","alt":"A hinge"}]"#),
            attached("q.jpg", 1),
        ]);
    }

    #[test]
    fn another_spelling_of_a_source_is_the_same_picture() {
        let past = [selected(), naming("[{\"source\":\"T\u{fc}r.jpg\",\"alt\":\"A door\"}]")];
        for source in ["T\u{fc}r.jpg", "Tu\u{308}r.jpg", " Tu\u{308}r.jpg "] {
            given(&past).when(attaching(source, None, 1)).then(&[attached("T\u{fc}r.jpg", 1)]);
            given(&past)
                .when(|project| attach_to_source(project, &slug(), source, picture(1)))
                .then(&[attached("T\u{fc}r.jpg", 1)]);
            given(&past).when(attaching(source, Some("A gate"), 1)).then(&[
                naming("[{\"source\":\"T\u{fc}r.jpg\",\"alt\":\"A gate\"}]"),
                attached("T\u{fc}r.jpg", 1),
            ]);
            given(&[selected()])
                .when(attaching(source, None, 1))
                .then(&[naming("[\"T\u{fc}r.jpg\"]"), attached("T\u{fc}r.jpg", 1)]);
        }
    }

    #[test]
    fn credit_and_rights_are_recorded_and_those_not_given_stay() {
        let past = [selected(), naming(r#"[{"source":"p.jpg","alt":"A door","credit":"Ann B"}]"#)];
        let named = PictureSource {
            credit: Some("Cy D".into()),
            rights: Some("CC0".into()),
            ..PictureSource::of("p.jpg")
        };
        given(&past).when(move |project| attach(project, &slug(), &named, picture(1))).then(&[
            naming(r#"[{"source":"p.jpg","alt":"A door","credit":"Cy D","rights":"CC0"}]"#),
            attached("p.jpg", 1),
        ]);
    }

    #[test]
    fn the_same_picture_changes_nothing_and_another_one_replaces_it() {
        let past = [selected(), naming(r#"["p.jpg"]"#), attached("p.jpg", 1)];
        given(&past).when(attaching("p.jpg", None, 1)).then_nothing();
        given(&past).when(attaching("p.jpg", None, 2)).then(&[attached("p.jpg", 2)]);
    }

    #[test]
    fn an_invalid_source_is_rejected() {
        given(&[selected()]).when(attaching("../p.jpg", None, 1)).then_rejected(
            "pictures[0].source is neither an https URL nor a path below the file's own folder",
        );
    }

    #[test]
    fn a_thumbnail_is_attached_without_changing_the_record() {
        let source = "https://x.org/t.jpg";
        let with_thumbnail =
            revised_so(&format!(r#"{{"slug":"a","name":"First","category":"art","thumbnail":"{source}"}}"#));
        let past = [selected(), with_thumbnail, refused(source, "It is SVG.")];
        given(&past)
            .when(|project| attach_to_source(project, &slug(), source, picture(1)))
            .then(&[attached(source, 1)]);
        given(&past)
            .when(|project| attach_to_source(project, &slug(), "https://x.org/u.jpg", picture(1)))
            .then_rejected("https://x.org/u.jpg is not named by the record any more");
    }

    #[test]
    fn a_withdrawn_project_gets_no_pictures() {
        given(&[selected(), withdrawn("sold")])
            .when(attaching("p.jpg", None, 1))
            .then_rejected("the project “a” is withdrawn (sold); restore it first");
        let gone = Project::replay(&[selected(), naming(r#"["p.jpg"]"#), withdrawn("sold")]);
        assert_eq!(record_fetch(&gone, "p.jpg", Ok(picture(1))), []);
    }

    #[test]
    fn the_outcome_of_a_fetch_is_recorded_once() {
        let past = [selected(), naming(r#"["https://x.org/p"]"#)];
        let source = "https://x.org/p";
        let look = |past: &[Event], found| record_fetch(&Project::replay(past), source, found);
        assert_eq!(look(&past, Ok(picture(1))), [attached(source, 1)]);
        assert_eq!(look(&past, Err("It is SVG.".into())), [refused(source, "It is SVG.")]);
        assert_eq!(record_fetch(&Project::replay(&past), "https://x.org/other", Ok(picture(1))), []);
        let refused_before = [past[0].clone(), past[1].clone(), refused(source, "It is SVG.")];
        assert_eq!(look(&refused_before, Err("It is SVG.".into())), []);
        assert_eq!(look(&refused_before, Ok(picture(1))), [attached(source, 1)]);
        let kept = [past[0].clone(), past[1].clone(), attached(source, 1)];
        assert_eq!(look(&kept, Err("It is gone.".into())), [], "what is kept stays");
        assert_eq!(look(&kept, Ok(picture(1))), []);
    }
}
