//! The name and the texts of the site.

use std::str::FromStr;

use api::{Contact, SiteTexts};
use settings::{SettingError, Value, section};

section! {
    /// The public address of the site, without a slash at its end, and its texts.
    Site {
        public_url: Option<String> = public_url => "public_url"
            "The public address of the site, used in answers; unset: the listening address." {
                shape: "URL",
                example: "https://catalog.example.org",
            },
        name: Option<String> = site_text::<80> => "site_name"
            "The name of the catalog in titles, citations and feeds; unset: the host name of public_url." {
                shape: "TEXT",
                example: "Casa & Co",
            },
        tagline: Option<String> = site_text::<160> => "site_tagline"
            "One line that says what the catalog is, on the front page, in feeds and at the foot of every page." {
                shape: "TEXT",
                example: "Houses and gardens of the north",
            },
        about: Option<String> = site_text::<600> => "site_about"
            "A sentence or two about the catalog, for the front page, search engines and agents." {
                shape: "TEXT",
                example: "Two hundred houses, each visited and photographed by us.",
            },
        imprint_url: Option<String> = page_url => "imprint_url"
            "The page that says who runs the site, linked at the foot of every page." {
                shape: "URL",
                example: "https://example.org/imprint",
            },
        privacy_url: Option<String> = page_url => "privacy_url"
            "The page that says what happens to personal data, linked at the foot of every page." {
                shape: "URL",
                example: "https://example.org/privacy",
            },
        terms_url: Option<String> = page_url => "terms_url"
            "The terms of use, linked at the foot of every page." {
                shape: "URL",
                example: "https://example.org/terms",
            },
    }
}

impl Site {
    pub fn texts(&self, contact: Option<Contact>) -> SiteTexts {
        SiteTexts {
            name: self.name.clone(),
            tagline: self.tagline.clone(),
            about: self.about.clone(),
            contact,
            imprint_url: self.imprint_url.clone(),
            privacy_url: self.privacy_url.clone(),
            terms_url: self.terms_url.clone(),
        }
    }
}

fn page_url(value: &Value<'_>) -> Result<Option<String>, SettingError> {
    let Some(url) = value.text() else { return Ok(None) };
    match url.parse::<Contact>() {
        Ok(contact) if contact.is_page() => Ok(Some(contact.to_string())),
        _ => Err(value.invalid("; expected the URL of a page, such as https://example.org/terms")),
    }
}

fn public_url(value: &Value<'_>) -> Result<Option<String>, SettingError> {
    let Some(url) = value.text() else { return Ok(None) };
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '<' | '>' | '?' | '#');
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if host.is_none_or(str::is_empty) || !url.chars().all(plain) {
        return Err(value.invalid("; expected a URL such as https://catalog.example.org"));
    }
    Ok(Some(url.trim_end_matches('/').to_owned()))
}

fn site_text<const LONGEST: usize>(value: &Value<'_>) -> Result<Option<String>, SettingError> {
    Ok(value.optional::<SiteText<LONGEST>>()?.map(|text| text.0))
}

/// A text of the site: one line of 1 to `LONGEST` characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteText<const LONGEST: usize>(pub String);

impl<const LONGEST: usize> FromStr for SiteText<LONGEST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let length = text.chars().count();
        if length == 0 || length > LONGEST || text.chars().any(char::is_control) {
            return Err(format!("expected one line of at most {LONGEST} characters, and it has {length}"));
        }
        Ok(SiteText(text.to_owned()))
    }
}
