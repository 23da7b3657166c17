//! A project in a grid of search results.

mod marks;

use std::collections::HashMap;

use answers::catalog::several;
use answers::error::ApiError;
use answers::site::Site;
use answers::state::ApiState;
use citation::CitedRecord;
use read::catalog::ListedPicture;
use schemas::api::summary::ThumbnailState;
use schemas::picture::WIDTHS;
use schemas::record::Category;
use schemas::taste::Dimension;
use serde::Deserialize;

use super::colours;
use super::layout::with_paths;
use marks::Marked;
pub(super) use marks::Marks;

/// The maximum length of a name that the search field shows as an example, in characters.
const MAX_EXAMPLE_CHARS: usize = 24;

/// The values of a card.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Card {
    pub(crate) slug: String,
    pub(crate) name: String,
    studio: Option<String>,
    city: Option<String>,
    year: Option<String>,
    pub(crate) category: String,
    pub(crate) intro: Option<String>,
    thumbnail: Option<String>,
    thumbnail_state: Option<ThumbnailState>,
    /// The main colour of the picture as `#rrggbb`, which is shown until the picture is there.
    #[serde(skip)]
    pub(crate) colour: Option<String>,
    /// The first recorded colour as `#rrggbb`, where other projects have a picture and this one has none.
    #[serde(skip)]
    pub(crate) tint: Option<String>,
    /// What made it a result.
    #[serde(skip)]
    pub(crate) marked: Marked,
}

impl Card {
    /// Parses a rendered summary of the search index, which lacks the brace after its last member.
    pub(super) fn of(summary: &[u8], site: &Site) -> Result<Card, ApiError> {
        let mut summary = with_paths(summary, site);
        summary.push(b'}');
        serde_json::from_slice(&summary).map_err(ApiError::internal)
    }

    /// Returns the card of a full record.
    pub(super) fn of_record(record: CitedRecord, site: &Site) -> Card {
        let thumbnail = record.thumbnail.map(|url| match url.strip_prefix(site.as_str()) {
            Some(path) => format!("{}{path}", site.path()),
            None => url,
        });
        Card {
            slug: record.slug,
            name: record.name,
            studio: record.studio,
            city: record.city,
            year: record.year,
            category: record.category.as_str().to_owned(),
            intro: record.intro,
            thumbnail,
            thumbnail_state: record.thumbnail_state,
            colour: None,
            tint: None,
            marked: Marked::default(),
        }
    }

    /// Adds the stored pictures and their main colours, and whether one is being fetched or drawn, which the summaries lack where the record
    /// names a picture of another host; unchanged if the catalog cannot be read.
    pub(super) async fn with_stored_pictures(mut cards: Vec<Card>, state: &ApiState) -> Vec<Card> {
        if cards.is_empty() {
            return cards;
        }
        let Ok(catalog) = state.catalog() else { return cards };
        let stored = catalog.reader.pictures(cards.iter().map(|card| card.slug.as_str())).await;
        let stored: HashMap<String, ListedPicture> = match stored {
            Ok(stored) => stored.into_iter().map(|picture| (picture.slug.clone(), picture)).collect(),
            Err(error) => {
                tracing::warn!(%error, "the stored pictures of a page cannot be looked up");
                return cards;
            }
        };
        for card in &mut cards {
            // The catalog may be a moment ahead of the summaries.
            let known = stored.get(&card.slug);
            card.thumbnail_state = known.filter(|known| known.url.is_none()).map(|_| ThumbnailState::Waiting);
            if let Some(ListedPicture { url: Some(url), colour, .. }) = known {
                if card.picture().is_none() {
                    let path = with_paths(url.as_bytes(), state.site());
                    card.thumbnail = Some(String::from_utf8_lossy(&path).into_owned());
                }
                card.colour.clone_from(colour);
            }
        }
        tint(&mut cards, state).await;
        cards
    }

    /// Returns studio, city and year, as far as recorded, each with its marked HTML if there is any.
    pub(crate) fn byline(&self) -> Vec<(&str, Option<&str>)> {
        let texts = [&self.studio, &self.city, &self.year];
        texts
            .into_iter()
            .zip(self.marked.byline())
            .filter_map(|(text, html)| Some((text.as_deref()?, html)))
            .collect()
    }

    /// Returns the studio, if it is recorded and short enough for an example.
    pub(super) fn studio(&self) -> Option<&str> {
        self.studio.as_deref().filter(|studio| studio.chars().count() <= MAX_EXAMPLE_CHARS)
    }

    /// Returns the first part of the city, under the same conditions.
    pub(super) fn place(&self) -> Option<&str> {
        let place = self.city.as_deref()?.split(text::is_comma).next()?.trim();
        (!place.is_empty() && place.chars().count() <= MAX_EXAMPLE_CHARS).then_some(place)
    }

    /// Returns the picture, if it is stored here: pages load nothing from other hosts.
    pub(crate) fn picture(&self) -> Option<&str> {
        self.thumbnail.as_deref().filter(|address| is_own(address))
    }

    /// Returns the picture in its two widths, as `srcset`; `None` if there is only one.
    pub(crate) fn srcset(&self) -> Option<String> {
        let picture = self.picture()?;
        let (folder, file) = picture.rsplit_once('/')?;
        let (own, narrow): (u32, u32) = (file.strip_suffix(".webp")?.parse().ok()?, WIDTHS[0]);
        (narrow < own).then(|| format!("{folder}/{narrow}.webp {narrow}w, {picture} {own}w"))
    }

    /// Returns the sign of the category, as the data of a path in a box of 40 by 30.
    pub(crate) fn sign(&self) -> &'static str {
        match Category::parse(&self.category) {
            Some(Category::Architecture) => "M13 21v-7l7-5 7 5v7z",
            Some(Category::Interiors) => "M13 21V9h14v12zl4-4h6l4 4M17 17V9",
            Some(Category::Design) => "M16 8v13M16 15h8v6",
            Some(Category::Photography) => "M12 10h16v11H12zM20 12.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
            Some(Category::Art) | None => "M13 9h14v12H13zM15 19l4-5 3 3 2-2 2 4",
        }
    }

    /// Returns whether the picture is being fetched or drawn.
    pub(crate) fn is_waiting(&self) -> bool {
        self.picture().is_none() && self.thumbnail_state == Some(ThumbnailState::Waiting)
    }

    /// Returns the URL of the same picture as JPEG, because not every service shows WebP.
    pub(super) fn jpeg(&self, site: &Site) -> Option<String> {
        let path = self.picture()?.strip_prefix(site.path())?;
        Some(format!("{site}{}.jpg", path.strip_suffix(".webp")?))
    }
}

/// Tints the cards without a picture by what their records say of colours, if others have a picture; unchanged if the catalog cannot be
/// read.
async fn tint(cards: &mut [Card], state: &ApiState) {
    let bare = |card: &Card| card.picture().is_none() && !card.is_waiting();
    let slugs: Vec<String> = cards.iter().filter(|card| bare(card)).map(|card| card.slug.clone()).collect();
    if slugs.is_empty() || cards.iter().all(|card| card.picture().is_none()) {
        return;
    }
    let Ok(found) = several::find(state, &slugs).await else { return };
    let read = |record| CitedRecord::read(record, state.site().as_str()).ok();
    for record in found.records.iter().filter_map(read) {
        let colour = record.taste.get(Dimension::Color).and_then(colours::named_in);
        if let Some(card) = cards.iter_mut().find(|card| card.slug == record.slug) {
            card.tint = colour;
        }
    }
}

/// Returns whether a URL is that of a picture stored here.
pub(super) fn is_own(address: &str) -> bool {
    !address.contains(':') && address.contains("/media/")
}

/// Joins the recorded parts with commas.
pub(super) fn byline(parts: [&Option<String>; 3]) -> String {
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use askama::Template;

    use super::*;

    #[derive(Template)]
    #[template(
        ext = "html",
        source = "{% import \"cards.html\" as cards_of %}{% call cards_of::card(card, \"\", \"\", 0) %}{% endcall %}"
    )]
    struct Shown {
        card: Card,
    }

    pub(super) fn card(category: &str) -> Card {
        Card {
            slug: "a".into(),
            name: "<A>".into(),
            studio: None,
            city: None,
            year: None,
            category: category.into(),
            intro: None,
            thumbnail: None,
            thumbnail_state: None,
            colour: None,
            tint: None,
            marked: Marked::default(),
        }
    }

    pub(super) fn shown(card: Card) -> String {
        Shown { card }.render().unwrap()
    }

    #[test]
    fn the_parts_of_a_byline_keep_their_order_in_every_script() {
        let card = Card { city: Some("إيران".into()), year: Some("1619".into()), ..card("Art") };
        let text = shown(card);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            ["<h3 dir=\"auto\">&#60;A&#62;</h3>", "<p><bdi>إيران</bdi>, <bdi>1619</bdi></p>", "</a>"]
        );
    }

    #[test]
    fn a_picture_is_offered_in_the_widths_that_are_stored() {
        let card = |file: &str| Card { thumbnail: Some(format!("/x/media/5e/{file}")), ..card("Art") };
        let two = "/x/media/5e/320.webp 320w, /x/media/5e/640.webp 640w";
        assert_eq!(card("640.webp").srcset().as_deref(), Some(two));
        for file in ["320.webp", "300.webp", "original"] {
            assert_eq!(card(file).srcset(), None, "{file}");
        }
        let pictured = Card { colour: Some("#000000".into()), ..card("640.webp") };
        let frame = format!(
            "<div class=\"frame\"><svg aria-hidden=\"true\" viewBox=\"0 0 4 3\"><path fill=\"#000000\" d=\"M0 0h4v3H0\"/></svg>\
             <img src=\"/x/media/5e/640.webp\" srcset=\"{two}\" sizes=\"(max-width: 30rem) 5rem, 20rem\" alt=\"\" loading=\"eager\" \
             decoding=\"async\"></div>"
        );
        assert_eq!(shown(pictured).lines().nth(1), Some(frame.as_str()));
    }

    #[test]
    fn a_project_without_a_picture_has_the_sign_of_its_category_on_its_colour() {
        let tinted = Card { tint: Some("#cfceca".into()), ..card("Architecture") };
        let sign = "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\".4\" d=\"M13 21v-7l7-5 7 5v7z\"/></svg></div>";
        let frame = "<div class=\"frame\"><svg aria-hidden=\"true\" viewBox=\"0 0 40 30\">";
        let tint = "<path fill=\"#cfceca\" fill-opacity=\".5\" d=\"M0 0h40v30H0\"/>";
        assert_eq!(shown(tinted).lines().nth(1), Some(format!("{frame}{tint}{sign}").as_str()));
        assert_eq!(shown(card("Architecture")).lines().nth(1), Some(format!("{frame}{sign}").as_str()));
        let signs = Category::ALL.map(|category| card(category.title()).sign());
        let distinct: std::collections::HashSet<&str> = signs.into_iter().collect();
        assert_eq!(distinct.len(), Category::ALL.len());
        let waiting = Card { thumbnail_state: Some(ThumbnailState::Waiting), ..card("Art") };
        assert!(
            shown(waiting)
                .contains("<div class=\"frame\"><p class=\"waiting\">Picture is being fetched</p></div>")
        );
    }
}
