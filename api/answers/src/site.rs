//! The public address of the site, and its texts.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use citation::Publisher;

use crate::mail::Contact;

/// What the service is; the schema of the server card allows 100 characters.
pub const DESCRIPTION: &str = "A curated catalog of architecture, interiors, design, photography and art.";

/// The name of a site without a host name.
const NAME: &str = "Loggia";
/// The default tagline.
const TAGLINE: &str = "A curated catalog of architecture, interiors, design, photography and art.";

/// The address of a site, http or https without a slash at its end, and the site's own texts. The address needs no
/// escaping in JSON, HTML and headers; the texts do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    address: Arc<str>,
    texts: Arc<SiteTexts>,
}

/// The site's own texts and links, as the operator sets them. Each is one line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteTexts {
    /// The name of the catalog, which citations give as the publisher; unset: the site's host name.
    pub name: Option<String>,
    /// One line below the name.
    pub tagline: Option<String>,
    /// A sentence or two about the catalog.
    pub about: Option<String>,
    /// How people reach the operator.
    pub contact: Option<Contact>,
    /// The URL of the page that says who runs the site.
    pub imprint_url: Option<String>,
    /// The URL of the page about personal data.
    pub privacy_url: Option<String>,
    /// The URL of the terms of use.
    pub terms_url: Option<String>,
}

/// A text that is not an address of a site.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a public address: it begins with http:// or https://, names a host, and has no blanks, quotes, ? or #; \
     for example https://catalog.example.org"
)]
pub struct InvalidSite(String);

impl Site {
    /// Returns the site with these texts.
    pub fn with_texts(self, texts: SiteTexts) -> Site {
        Site { texts: Arc::new(texts), ..self }
    }

    /// Returns the address.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.address
    }

    /// Returns the name of the catalog: as configured, or else the site's host name, or else `Loggia`.
    pub fn name(&self) -> &str {
        self.texts.name.as_deref().or_else(|| self.host_name()).unwrap_or(NAME)
    }

    /// Returns the catalog as citations name it.
    pub fn publisher(&self) -> Publisher<'_> {
        Publisher { name: self.name(), site: self.as_str() }
    }

    /// Returns the line below the name.
    pub fn tagline(&self) -> &str {
        self.texts.tagline.as_deref().unwrap_or(TAGLINE)
    }

    /// Returns what the operator says of the catalog: the sentences about it, or else the tagline; `None` if neither is configured.
    pub fn described(&self) -> Option<&str> {
        self.about().or(self.texts.tagline.as_deref())
    }

    /// Returns a sentence or two about the catalog, if configured.
    pub fn about(&self) -> Option<&str> {
        self.texts.about.as_deref()
    }

    /// Returns how people reach the operator, if configured.
    pub fn contact(&self) -> Option<&Contact> {
        self.texts.contact.as_ref()
    }

    /// Returns the configured links for the foot of every page: name and URL.
    pub fn links(&self) -> impl Iterator<Item = (&'static str, String)> {
        let SiteTexts { contact, imprint_url, privacy_url, terms_url, .. } = &*self.texts;
        let links = [
            ("Contact", contact.as_ref().map(Contact::href)),
            ("Imprint", imprint_url.clone()),
            ("Privacy", privacy_url.clone()),
            ("Terms", terms_url.clone()),
        ];
        links.into_iter().filter_map(|(name, url)| Some((name, url?)))
    }

    /// Returns the host, if it is a name on the public internet.
    fn host_name(&self) -> Option<&str> {
        let (_, rest) = self.address.split_once("://")?;
        let authority = rest.split('/').next()?;
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        (host.contains('.') && host.parse::<IpAddr>().is_err()).then_some(host)
    }

    /// Returns the path below which the site is, without a slash at its end; empty for a site with a host of its own.
    #[inline]
    pub fn path(&self) -> &str {
        let host = self.address.find("://").map_or(0, |scheme| scheme + 3);
        self.address[host..].find('/').map_or("", |path| &self.address[host + path..])
    }
}

impl FromStr for Site {
    type Err = InvalidSite;

    fn from_str(text: &str) -> Result<Site, InvalidSite> {
        let address = text.trim_end_matches('/');
        let host = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
        let legal = |byte: u8| byte.is_ascii_graphic() && !br#""\<>?#&'`{}|^"#.contains(&byte);
        if host.is_some_and(|host| !host.is_empty() && !host.starts_with('/')) && address.bytes().all(legal) {
            Ok(Site { address: address.into(), texts: Arc::default() })
        } else {
            Err(InvalidSite(text.to_owned()))
        }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_loses_its_last_slash_and_nothing_else() {
        for (text, address) in [
            ("https://catalog.example.org/", "https://catalog.example.org"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("https://example.org/catalog/", "https://example.org/catalog"),
            ("http://[::1]:80", "http://[::1]:80"),
        ] {
            assert_eq!(text.parse::<Site>().unwrap().as_str(), address);
        }
    }

    #[test]
    fn it_may_live_below_a_path() {
        for (text, path) in [("https://a.org", ""), ("http://[::1]:80/", ""), ("https://a.org/b/c/", "/b/c")]
        {
            assert_eq!(text.parse::<Site>().unwrap().path(), path);
        }
    }

    #[test]
    fn a_site_without_a_name_is_named_for_its_host() {
        for (address, name) in [
            ("https://catalog.example.org:8443/a/b", "catalog.example.org"),
            ("http://127.0.0.1:8080", "Loggia"),
            ("http://[::1]:80", "Loggia"),
            ("http://localhost", "Loggia"),
        ] {
            let site: Site = address.parse().unwrap();
            assert_eq!((site.name(), site.tagline(), site.about()), (name, TAGLINE, None), "{address}");
            assert_eq!(site.described(), None);
        }
        let texts = SiteTexts {
            name: Some("Casa & Co".into()),
            about: Some("Houses.".into()),
            ..SiteTexts::default()
        };
        let site = "https://a.org".parse::<Site>().unwrap().with_texts(texts);
        assert_eq!(
            (site.as_str(), site.name(), site.about()),
            ("https://a.org", "Casa & Co", Some("Houses."))
        );
    }

    #[test]
    fn anything_else_is_refused() {
        for text in
            ["", "example.org", "ftp://x", "https://", "https:///x", "http://a b", "http://a\"", "http://a?b"]
        {
            assert_eq!(text.parse::<Site>(), Err(InvalidSite(text.into())), "{text:?}");
        }
    }
}
