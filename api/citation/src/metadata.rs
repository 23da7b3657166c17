//! Metadata in the head of a page: Highwire for reference managers, Dublin Core, Open Graph. The page adds its picture.

use super::{Citation, one_line};

impl Citation {
    /// Returns names and contents of `meta` elements. A name that starts with `og:` belongs in the attribute `property`.
    pub fn metadata(&self) -> Vec<(&'static str, String)> {
        let creator = self.creator.as_deref().map(one_line);
        let title = one_line(&self.title);
        let intro = self.intro.as_deref().map(one_line);
        let pairs = [
            ("citation_title", Some(title.clone())),
            ("citation_author", creator.clone()),
            ("citation_publication_date", self.year.clone()),
            ("citation_publisher", Some(self.publisher.clone())),
            ("citation_public_url", Some(self.url.clone())),
            ("DC.title", Some(title.clone())),
            ("DC.creator", creator),
            ("DC.date", self.year.clone()),
            ("DC.coverage", self.city.as_deref().map(one_line)),
            ("DC.subject", Some(self.category.title().to_owned())),
            ("DC.description", intro.clone()),
            ("DC.publisher", Some(self.publisher.clone())),
            ("DC.identifier", Some(self.url.clone())),
            ("DC.source", self.source.clone()),
            ("og:title", Some(title)),
            ("og:type", Some("article".to_owned())),
            ("og:url", Some(self.url.clone())),
            ("og:site_name", Some(self.publisher.clone())),
            ("og:description", intro),
        ];
        pairs.into_iter().filter_map(|(name, content)| Some((name, content?))).collect()
    }
}
