//! Plain text, one line.

use super::{Citation, one_line};

impl Citation {
    /// Formats the citation as a line of text.
    pub fn text(&self) -> String {
        let place = [self.city.as_deref(), self.year.as_deref()];
        let place = place.into_iter().flatten().map(one_line).collect::<Vec<_>>().join(", ");
        let mut parts: Vec<String> = self.creator.as_deref().map(one_line).into_iter().collect();
        parts.extend([
            one_line(&self.title),
            place,
            self.category.title().to_owned(),
            self.publisher.clone(),
        ]);
        parts.retain(|part| !part.is_empty());
        let accessed = self.accessed.map(|day| format!("Accessed {day}. ")).unwrap_or_default();
        format!("{}. {} {accessed}{}\n", parts.join(". "), self.note(), self.url)
    }
}
