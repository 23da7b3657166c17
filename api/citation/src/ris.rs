//! RIS: lines of a tag and a value, each terminated by CR LF.

use schemas::record::Category;

use super::{Citation, one_line};

impl Citation {
    /// Formats the citation as RIS.
    pub fn ris(&self) -> String {
        let mut lines = String::new();
        let mut line = |tag: &str, value: Option<&str>| {
            if let Some(value) = value {
                lines.push_str(&format!("{tag}  - {}\r\n", one_line(value)));
            }
        };
        line("TY", Some(kind(self.category)));
        line("TI", Some(&self.title));
        line("AU", self.creator.as_deref());
        line("PY", self.year.as_deref());
        line("Y2", self.accessed.map(|day| day.strftime("%Y/%m/%d/").to_string()).as_deref());
        line("CY", self.city.as_deref());
        line("PB", Some(&self.publisher));
        line("ET", Some(&self.revision.to_string()));
        line("KW", Some(self.category.title()));
        line("AB", self.intro.as_deref());
        line("N1", Some(&self.note()));
        line("ID", Some(&self.key()));
        line("UR", Some(&self.url));
        line("L4", self.image.as_deref());
        lines.push_str("ER  - \r\n");
        lines
    }
}

/// The type of the reference: a work of art, or generic; RIS has no type for buildings.
fn kind(category: Category) -> &'static str {
    match category {
        Category::Photography | Category::Art => "ART",
        Category::Architecture | Category::Interiors | Category::Design => "GEN",
    }
}
