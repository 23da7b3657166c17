//! Marks on cards: what of a project's texts made it a result.

use answers::catalog::several;
use answers::state::ApiState;
use citation::CitedRecord;
use read::search::Highlighter;
use schemas::taste::{Dimension, Taste};

use super::Card;

/// The number of characters of a text that a card shows at any width: three lines.
const SHOWN_CHARS: usize = 100;
/// The maximum number of characters before the first mark of an excerpt.
const BEFORE_CHARS: usize = 40;

/// The marked texts of a card, as HTML.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marked {
    pub(crate) name: Option<String>,
    studio: Option<String>,
    city: Option<String>,
    pub(crate) intro: Option<String>,
    /// What matches among the texts that cards do not show otherwise, with the names of these: category and taste.
    pub(crate) others: Vec<(&'static str, String)>,
}

impl Marked {
    /// Returns studio, city and year, in this order.
    pub(super) fn byline(&self) -> [Option<&str>; 3] {
        [self.studio.as_deref(), self.city.as_deref(), None]
    }
}

/// What is marked on the cards of a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks {
    words: Option<Highlighter>,
    taste: Vec<(Dimension, Highlighter)>,
}

impl Marks {
    /// Returns the marks of a search by words, by taste, or by both.
    pub(crate) fn of(words: Option<Highlighter>, taste: &Taste) -> Marks {
        let taste = taste.iter().map(|(dimension, text)| (dimension, Highlighter::new(text, None)));
        Marks { words, taste: taste.collect() }
    }

    /// Marks these words in the recorded materials, too, unless others are requested.
    pub(crate) fn add_materials(&mut self, materials: &[&str]) {
        let is_requested = self.taste.iter().any(|(dimension, _)| *dimension == Dimension::Material);
        let materials = Highlighter::new(&materials.join(" "), None);
        self.taste.extend((!is_requested).then_some((Dimension::Material, materials)));
    }

    /// Marks the cards. If the catalog cannot be read, they have no marks of taste.
    pub(crate) async fn mark(&self, cards: &mut [Card], state: &ApiState) {
        if let Some(words) = &self.words {
            cards.iter_mut().for_each(|card| card.marked = card.marks_of(words));
        }
        if self.taste.is_empty() || cards.is_empty() {
            return;
        }
        let slugs: Vec<String> = cards.iter().map(|card| card.slug.clone()).collect();
        let found = match several::find(state, &slugs).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(error = %error.into_details().detail, "the taste of results cannot be looked up");
                return;
            }
        };
        let read = |record| CitedRecord::read(record, state.site().as_str()).ok();
        for record in found.records.iter().filter_map(read) {
            if let Some(card) = cards.iter_mut().find(|card| card.slug == record.slug) {
                card.marked.others.extend(self.taste_of(&record.taste));
            }
        }
    }

    /// Returns the recorded texts of the dimensions in which something is marked.
    fn taste_of(&self, taste: &Taste) -> Vec<(&'static str, String)> {
        let marked = |(dimension, highlighter): &(Dimension, Highlighter)| {
            let html = highlighter.mark(taste.get(*dimension)?)?;
            Some((dimension.title(), from_first_mark(html)))
        };
        self.taste.iter().filter_map(marked).collect()
    }
}

impl Card {
    fn marks_of(&self, words: &Highlighter) -> Marked {
        let mark = |text: &Option<String>| words.mark(text.as_deref()?);
        Marked {
            name: words.mark(&self.name),
            studio: mark(&self.studio),
            city: mark(&self.city),
            intro: mark(&self.intro).map(from_first_mark),
            others: words.mark(&self.category).map(|html| ("Category", html)).into_iter().collect(),
        }
    }
}

/// Returns an excerpt of marked HTML that begins a little before its first mark, if cards do not show that otherwise.
fn from_first_mark(html: String) -> String {
    let Some((before, _)) = html.split_once("<mark>") else { return html };
    if before.chars().count() <= SHOWN_CHARS {
        return html;
    }
    let from = before.char_indices().rev().nth(BEFORE_CHARS).map_or(0, |(at, _)| at);
    let near = &before[from..];
    // Neither a blank nor a letter beyond ASCII, which begins an excerpt of scripts without blanks, is within a character reference.
    let start = near.find(char::is_whitespace).or_else(|| near.find(|letter: char| !letter.is_ascii()));
    match start {
        Some(start) => format!("…{}", html[from + start..].trim_start()),
        None => html,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{card, shown};
    use super::*;

    fn marked(card: &Card, words: &str) -> Marked {
        card.marks_of(&Highlighter::new(words, None))
    }

    #[test]
    fn what_matches_is_marked_and_escaped_on_a_card() {
        let mut card = Card {
            name: "Stone <house>".into(),
            studio: Some("Stone & Sons".into()),
            city: Some("Ulm".into()),
            year: Some("1964".into()),
            intro: Some("Of glass.".into()),
            ..card("Art")
        };
        card.marked = marked(&card, "stone art");
        card.marked.others.extend(Marks::of(None, &taste("cork floor")).taste_of(&taste("Cork & <floor>")));
        let text = shown(card);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "<h3 dir=\"auto\"><mark>Stone</mark> &lt;house&gt;</h3>",
                "<p><bdi><mark>Stone</mark> &amp; Sons</bdi>, <bdi>Ulm</bdi>, <bdi>1964</bdi></p>",
                "<p class=\"intro\" dir=\"auto\">Of glass.</p>",
                "<p class=\"intro\">Category: <bdi><mark>Art</mark></bdi></p>",
                "<p class=\"intro\">Material: <bdi><mark>Cork</mark> &amp; &lt;<mark>floor</mark>&gt;</bdi></p>",
                "</a>",
            ]
        );
    }

    fn taste(material: &str) -> Taste {
        Taste::from_fn(|dimension| (dimension == Dimension::Material).then(|| material.to_owned()))
    }

    #[test]
    fn an_excerpt_begins_before_a_mark_that_a_card_does_not_show_otherwise() {
        let intro = |text: String| marked(&Card { intro: Some(text), ..card("Art") }, "oak 東").intro;
        let near = "It stands by a lake. The floor is of oak.".to_owned();
        assert_eq!(intro(near.clone()), Some(near.replace("oak", "<mark>oak</mark>")));
        let far = format!("{}, and its walls & the stairs <are> of oak.", "Long ".repeat(30).trim_end());
        assert_eq!(intro(far).as_deref(), Some("…walls &amp; the stairs &lt;are&gt; of <mark>oak</mark>."));
        let run = format!("{}東", "建".repeat(200));
        assert_eq!(intro(run), Some(format!("…{}<mark>東</mark>", "建".repeat(41))));
        let unbroken = format!("{}-oak", "a".repeat(110));
        assert_eq!(intro(unbroken.clone()), Some(unbroken.replace("oak", "<mark>oak</mark>")));
        assert_eq!(intro("Of brick.".to_owned()), None);
    }

    #[test]
    fn materials_of_a_kind_are_marked() {
        let mut marks = Marks::default();
        marks.add_materials(&["pine", "larch"]);
        let expected = vec![("Material", "brick, <mark>larch</mark>".to_owned())];
        assert_eq!(marks.taste_of(&taste("brick, larch")), expected);
        assert_eq!(marks.taste_of(&taste("brick")), []);
        let mut marks = Marks::of(None, &taste("brick"));
        marks.add_materials(&["larch"]);
        let expected = vec![("Material", "<mark>brick</mark>, larch".to_owned())];
        assert_eq!(marks.taste_of(&taste("brick, larch")), expected);
    }
}
