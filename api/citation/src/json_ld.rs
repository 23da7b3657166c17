//! JSON-LD with the vocabulary of schema.org. The text is safe inside a script element.

use schemas::record::Category;
use serde_json::{Value, json};

use super::{Citation, CitedImage, is_licence};

impl Citation {
    /// Formats the citation as JSON-LD.
    pub fn json_ld(&self) -> String {
        script_json(&self.work())
    }

    /// Returns the same for the head of a page that shows this picture, with its caption, its credit and its licence.
    pub fn json_ld_of_page(&self, picture: Option<&CitedImage>) -> String {
        let mut work = self.work();
        if let Some(picture) = picture {
            work["image"] = without_nulls(json!({
                "@type": "ImageObject",
                "contentUrl": picture.url,
                "width": picture.width,
                "height": picture.height,
                "caption": picture.alt,
                "creditText": picture.credit,
                "license": picture.rights.as_deref().filter(|rights| is_licence(rights)),
            }));
        }
        script_json(&work)
    }

    fn work(&self) -> Value {
        let publisher = json!({"@type": "Organization", "name": self.publisher, "url": self.site});
        let curator = self.curated_by.as_ref().map(|name| json!({"@type": "Person", "name": name}));
        let work = json!({
            "@context": "https://schema.org",
            "@type": kind(self.category),
            "@id": self.url,
            "url": self.project_url,
            "name": self.title,
            "creator": self.creator.as_ref().map(|name| json!({"@type": "Organization", "name": name})),
            "dateCreated": self.year,
            "locationCreated": self.city.as_ref().map(|name| json!({"@type": "Place", "name": name})),
            "genre": self.category.title(),
            "abstract": self.intro,
            "image": self.image,
            "isBasedOn": self.source,
            "version": self.revision,
            "isPartOf": {"@type": "Collection", "name": self.publisher, "url": self.site},
            "subjectOf": {
                "@type": "WebPage",
                "url": self.url,
                "version": self.revision,
                "author": curator,
                "datePublished": self.published,
                "publisher": publisher,
            },
            "sdPublisher": publisher,
            "sdDatePublished": self.recorded,
        });
        without_nulls(work)
    }
}

fn kind(category: Category) -> &'static str {
    match category {
        Category::Photography => "Photograph",
        Category::Art => "VisualArtwork",
        Category::Architecture | Category::Interiors | Category::Design => "CreativeWork",
    }
}

/// Removes members that are null.
pub(super) fn without_nulls(mut value: Value) -> Value {
    if let Value::Object(members) = &mut value {
        members.retain(|_, member| !member.is_null());
        for member in members.values_mut() {
            *member = without_nulls(member.take());
        }
    }
    value
}

/// Writes JSON for a script element, with everything escaped that could end the element or a line of it.
pub fn script_json(value: &Value) -> String {
    let json = value.to_string();
    let mut text = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => text.push(character),
        }
    }
    text
}
