//! A project in a grid of search results.

use std::collections::HashMap;

use answers::error::ApiError;
use answers::site::Site;
use answers::state::ApiState;
use citation::CitedRecord;
use read::catalog::ListedPicture;
use schemas::api::summary::ThumbnailState;
use serde::Deserialize;

use super::layout::with_paths;

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
        cards
    }

    /// Returns studio, city and year, as far as recorded.
    pub(crate) fn byline(&self) -> String {
        byline([&self.studio, &self.city, &self.year])
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

/// Returns whether a URL is that of a picture stored here.
pub(super) fn is_own(address: &str) -> bool {
    !address.contains(':') && address.contains("/media/")
}

/// Joins the recorded parts with commas.
pub(super) fn byline(parts: [&Option<String>; 3]) -> String {
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ")
}
