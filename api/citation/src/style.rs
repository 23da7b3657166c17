//! The styles of bibliographies: APA (7th edition), Chicago (17th, notes and bibliography) and MLA (9th).
//!
//! Each style cites the work as the catalog records it: the studio as a group author, whose name is not inverted, and the
//! record's revision as the version of the page. Without a studio the title comes first. Without a year APA and Chicago say so, MLA
//! leaves the date out.
//!
//! The address is that of the revision, which does not change. So no style needs a date of access: APA asks for one only if a page
//! changes, Chicago and MLA only if it has no date, and a revision has that of its recording. Chicago and MLA name the date that a
//! reader gives all the same.

use jiff::civil::Date;
use schemas::record::Category;

use super::{Citation, one_line};

/// The months as MLA abbreviates them.
const MLA_MONTHS: [&str; 12] =
    ["Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec."];

/// A citation style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Publication Manual of the American Psychological Association, 7th edition.
    Apa,
    /// The Chicago Manual of Style, 17th edition: an entry of the bibliography in the notes and bibliography system.
    Chicago,
    /// MLA Handbook, 9th edition: an entry of the works cited.
    Mla,
}

impl Style {
    /// All styles, in alphabetical order.
    pub const ALL: [Style; 3] = [Style::Apa, Style::Chicago, Style::Mla];

    /// Returns its short name, which is also an identifier on pages.
    pub fn name(self) -> &'static str {
        match self {
            Style::Apa => "APA",
            Style::Chicago => "Chicago",
            Style::Mla => "MLA",
        }
    }

    /// Returns its edition, for people.
    pub fn edition(self) -> &'static str {
        match self {
            Style::Apa => "7th edition",
            Style::Chicago => "17th edition",
            Style::Mla => "9th edition",
        }
    }
}

/// A part of a styled citation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Its text, with the blanks around it.
    pub text: String,
    /// Whether it is set in italics.
    pub is_italic: bool,
}

impl Citation {
    /// Formats the citation in a style.
    pub fn styled(&self, style: Style) -> Vec<Span> {
        match style {
            Style::Apa => self.apa(),
            Style::Chicago => self.chicago(),
            Style::Mla => self.mla(),
        }
    }

    /// Formats the citation in a style as a line of text, without italics.
    pub fn in_style(&self, style: Style) -> String {
        let mut line: String = self.styled(style).into_iter().map(|span| span.text).collect();
        line.push('\n');
        line
    }

    /// Without a date of retrieval, which APA asks for only if a page changes: a revision does not (sections 8.27 and 9.16). A site that
    /// is its own author is not named twice (section 10.16).
    fn apa(&self) -> Vec<Span> {
        let date = format!("({}).", self.year.as_deref().unwrap_or("n.d."));
        let version = format!(" (Revision {}) [{}]. ", self.revision, medium(self.category));
        let (creator, publisher) = (self.creator.as_deref().map(one_line), one_line(&self.publisher));
        let source = match &creator {
            Some(creator) if *creator == publisher => self.url.clone(),
            _ => format!("{} {}", ended(&publisher), self.url),
        };
        let title = italic(one_line(&self.title));
        match creator {
            Some(creator) => {
                vec![plain(format!("{} {date} ", ended(&creator))), title, plain(version + &source)]
            }
            None => vec![title, plain(format!("{version}{date} {source}"))],
        }
    }

    /// In quotation marks as the title of a page; the names of buildings and websites are not in italics (sections 8.57 and 14.206). An
    /// unknown year is “n.d.” (section 14.145).
    fn chicago(&self) -> Vec<Span> {
        let day = |day: Date| day.strftime("%B %-d, %Y").to_string();
        let parts = [
            self.creator.as_deref().map(|creator| ended(&one_line(creator))),
            Some(format!("“{}”", ended(&with_single_quotes(&one_line(&self.title))))),
            Some(self.year.as_deref().map_or_else(|| "n.d.".to_owned(), ended)),
            Some(ended(&one_line(&self.publisher))),
            Some(format!("Revision {}, {}.", self.revision, day(self.recorded))),
            self.accessed.map(|accessed| format!("Accessed {}.", day(accessed))),
            Some(self.url.clone()),
        ];
        vec![plain(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))]
    }

    /// The work with its year, then the catalog as its container: version, date and location.
    fn mla(&self) -> Vec<Span> {
        let day = |day: Date| {
            let month = MLA_MONTHS.get(usize::from(day.month().unsigned_abs()) - 1).unwrap_or(&"");
            format!("{} {month} {}", day.day(), day.year())
        };
        let creator = self.creator.as_deref().map(|creator| plain(ended(&one_line(creator)) + " "));
        let title = one_line(&self.title);
        let end = if is_ended(&title) { " " } else { ". " };
        let year = self.year.as_deref().map(|year| ended(year) + " ").unwrap_or_default();
        let mut place = format!(", revision {}, {}, {}.", self.revision, day(self.recorded), self.url);
        if let Some(accessed) = self.accessed {
            place += &format!(" Accessed {}.", day(accessed));
        }
        let work =
            [italic(title), plain(format!("{end}{year}")), italic(one_line(&self.publisher)), plain(place)];
        creator.into_iter().chain(work).collect()
    }
}

/// Returns the description of the work in brackets.
fn medium(category: Category) -> &'static str {
    match category {
        Category::Architecture => "Architecture",
        Category::Interiors => "Interior design",
        Category::Design => "Design",
        Category::Photography => "Photograph",
        Category::Art => "Artwork",
    }
}

fn plain(text: String) -> Span {
    Span { text, is_italic: false }
}

fn italic(text: String) -> Span {
    Span { text, is_italic: true }
}

/// Returns whether a text ends with a mark that takes the place of a full stop.
fn is_ended(text: &str) -> bool {
    text.ends_with(['.', '?', '!', '…'])
}

/// Ends a text with a full stop, unless it has such a mark.
fn ended(text: &str) -> String {
    if is_ended(text) { text.to_owned() } else { format!("{text}.") }
}

/// Replaces double quotation marks by single ones, as within quotation marks.
fn with_single_quotes(text: &str) -> String {
    let single = |character| match character {
        '“' => '‘',
        '”' => '’',
        '"' => '\'',
        other => other,
    };
    text.chars().map(single).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{bare, full};
    use super::*;

    /// The citation in every style, with italics between asterisks.
    fn styled(citation: &Citation) -> [String; 3] {
        Style::ALL.map(|style| {
            let marked = |span: Span| if span.is_italic { format!("*{}*", span.text) } else { span.text };
            citation.styled(style).into_iter().map(marked).collect()
        })
    }

    fn accessed() -> Option<Date> {
        Some("2026-11-26".parse().unwrap())
    }

    #[test]
    fn a_whole_record_is_cited_in_every_style() {
        assert_eq!(
            styled(&Citation { accessed: accessed(), ..full() }),
            [
                "Atelier Łoś & Co. (2019). *Haus am See* (Revision 2) [Architecture]. Casa & Co. \
                 https://catalog.example.org/cite/haus-am-see/2",
                "Atelier Łoś & Co. “Haus am See.” 2019. Casa & Co. Revision 2, November 20, 2026. Accessed November 26, 2026. \
                 https://catalog.example.org/cite/haus-am-see/2",
                "Atelier Łoś & Co. *Haus am See*. 2019. *Casa & Co*, revision 2, 20 Nov. 2026, \
                 https://catalog.example.org/cite/haus-am-see/2. Accessed 26 Nov. 2026.",
            ]
        );
    }

    #[test]
    fn without_a_studio_the_title_comes_first() {
        assert_eq!(
            styled(&Citation { creator: None, accessed: accessed(), ..full() }),
            [
                "*Haus am See* (Revision 2) [Architecture]. (2019). Casa & Co. https://catalog.example.org/cite/haus-am-see/2",
                "“Haus am See.” 2019. Casa & Co. Revision 2, November 20, 2026. Accessed November 26, 2026. \
                 https://catalog.example.org/cite/haus-am-see/2",
                "*Haus am See*. 2019. *Casa & Co*, revision 2, 20 Nov. 2026, https://catalog.example.org/cite/haus-am-see/2. \
                 Accessed 26 Nov. 2026.",
            ]
        );
    }

    #[test]
    fn without_a_year_apa_and_chicago_say_so() {
        assert_eq!(
            styled(&Citation { year: None, accessed: accessed(), ..full() }),
            [
                "Atelier Łoś & Co. (n.d.). *Haus am See* (Revision 2) [Architecture]. Casa & Co. \
                 https://catalog.example.org/cite/haus-am-see/2",
                "Atelier Łoś & Co. “Haus am See.” n.d. Casa & Co. Revision 2, November 20, 2026. Accessed November 26, 2026. \
                 https://catalog.example.org/cite/haus-am-see/2",
                "Atelier Łoś & Co. *Haus am See*. *Casa & Co*, revision 2, 20 Nov. 2026, \
                 https://catalog.example.org/cite/haus-am-see/2. Accessed 26 Nov. 2026.",
            ]
        );
    }

    #[test]
    fn a_name_alone_is_enough() {
        assert_eq!(
            styled(&bare("A", Category::Photography)),
            [
                "*A* (Revision 2) [Photograph]. (n.d.). Casa & Co. https://catalog.example.org/cite/haus-am-see/2",
                "“A.” n.d. Casa & Co. Revision 2, November 20, 2026. https://catalog.example.org/cite/haus-am-see/2",
                "*A*. *Casa & Co*, revision 2, 20 Nov. 2026, https://catalog.example.org/cite/haus-am-see/2.",
            ]
        );
    }

    #[test]
    fn marks_and_breaks_within_names_fit_in() {
        let citation = Citation {
            title: "Who Lives\nin the “Yellow” House?".into(),
            creator: Some("Bjarke & Søn Inc.".into()),
            publisher: "Álbum!".into(),
            recorded: "2026-05-01".parse().unwrap(),
            ..full()
        };
        assert_eq!(
            styled(&citation),
            [
                "Bjarke & Søn Inc. (2019). *Who Lives in the “Yellow” House?* (Revision 2) [Architecture]. Álbum! \
                 https://catalog.example.org/cite/haus-am-see/2",
                "Bjarke & Søn Inc. “Who Lives in the ‘Yellow’ House?” 2019. Álbum! Revision 2, May 1, 2026. \
                 https://catalog.example.org/cite/haus-am-see/2",
                "Bjarke & Søn Inc. *Who Lives in the “Yellow” House?* 2019. *Álbum!*, revision 2, 1 May 2026, \
                 https://catalog.example.org/cite/haus-am-see/2.",
            ]
        );
    }

    #[test]
    fn a_site_that_is_its_own_author_is_named_once_in_apa() {
        let citation = Citation { creator: Some("Casa\n& Co".into()), ..full() };
        assert_eq!(
            citation.in_style(Style::Apa),
            "Casa & Co. (2019). Haus am See (Revision 2) [Architecture]. https://catalog.example.org/cite/haus-am-see/2\n"
        );
    }

    #[test]
    fn a_style_as_a_format_is_one_line_without_italics() {
        for (format, style) in Format::STYLES.into_iter().zip(Style::ALL) {
            let line = full().in_style(style);
            assert_eq!((format.title(), full().write(format)), (style.name(), Some(line.clone())));
            assert_eq!((line.lines().count(), line.ends_with('\n')), (1, true), "{line}");
            let spans: String = full().styled(style).into_iter().map(|span| span.text).collect();
            assert_eq!(line.trim_end(), spans);
        }
        assert_eq!(
            bare("東\n京\u{2028}", Category::Art).in_style(Style::Mla),
            "東 京. Casa & Co, revision 2, 20 Nov. 2026, https://catalog.example.org/cite/haus-am-see/2.\n"
        );
    }
}
