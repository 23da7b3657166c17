//! The text that a sentence encoder reads of a record.

use schemas::record::{Record, Taste};

/// Taste first, since an encoder reads no more than its first few hundred words; a name only where nothing else is
/// known, because it says least. `None` where no field holds a letter or digit.
pub(super) fn text(record: &Record) -> Option<String> {
    let Taste { material, light, color, mood, composition, subject } = &record.taste;
    let texts = [
        subject,
        material,
        light,
        color,
        mood,
        composition,
        &record.design_language,
        &record.intro,
        &record.description,
    ];
    let mut text = String::new();
    for part in texts.into_iter().flatten().map(|part| part.trim()).filter(|part| says_something(part)) {
        if !text.is_empty() {
            text.push_str(if text.ends_with(['.', '!', '?', '。']) { " " } else { ". " });
        }
        text.push_str(part);
    }
    if text.is_empty() {
        text.push_str(record.name.trim());
    }
    says_something(&text).then_some(text)
}

fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::named;
    use super::*;

    #[test]
    fn taste_comes_first_and_the_name_only_alone() {
        let mut record = named("Alder House");
        assert_eq!(text(&record).as_deref(), Some("Alder House"));
        record.description = Some("A house on a slope.\n".to_owned());
        record.taste.material = Some("pale oak".to_owned());
        record.taste.mood = Some("—".to_owned());
        assert_eq!(text(&record).as_deref(), Some("pale oak. A house on a slope."));
        assert_eq!(text(&named(" … ")), None);
    }
}
