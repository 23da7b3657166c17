//! CSL-JSON by its schema 1.0.2: a list of one item.

use jiff::civil::Date;
use schemas::record::Category;
use serde_json::{Value, json};

use super::json_ld::without_nulls;
use super::{Citation, one_line};

impl Citation {
    /// Formats the citation as CSL-JSON.
    pub(crate) fn csl_json(&self) -> String {
        // A literal name is not split into given and family name.
        let name = |name: &String| json!([{"literal": one_line(name)}]);
        let year = self.year.as_ref().and_then(|year| year.parse::<u16>().ok());
        let item = json!({
            "id": self.key(),
            "type": kind(self.category),
            "title": one_line(&self.title),
            "author": self.creator.as_ref().map(name),
            "curator": self.curated_by.as_ref().map(name),
            "issued": year.map(|year| json!({"date-parts": [[year]]})),
            "available-date": self.published.map(day),
            "accessed": self.accessed.map(day),
            "event-place": self.city.as_deref().map(one_line),
            "genre": self.category.title(),
            "abstract": self.intro.as_deref().map(one_line),
            "publisher": self.publisher,
            "version": self.revision.to_string(),
            "URL": self.url,
            "note": self.note(),
        });
        format!("[{}]\n", without_nulls(item))
    }
}

fn day(day: Date) -> Value {
    json!({"date-parts": [[day.year(), day.month(), day.day()]]})
}

fn kind(category: Category) -> &'static str {
    match category {
        Category::Design | Category::Photography | Category::Art => "graphic",
        Category::Architecture | Category::Interiors => "document",
    }
}
