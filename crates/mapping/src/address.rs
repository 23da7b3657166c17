//! Addresses of pages and pictures.

use percent_encoding::percent_decode_str;

/// The maximum length of a picture's source, in bytes.
const MAX_SOURCE: usize = 2_000;

/// Puts `https://` before an address that has no scheme.
pub(crate) fn with_scheme(text: &str, scheme: &str) -> String {
    match text.strip_prefix("//") {
        _ if text.contains("://") => text.to_owned(),
        Some(rest) => format!("{scheme}://{rest}"),
        None => format!("{scheme}://{text}"),
    }
}

/// Decodes percent signs; a text whose bytes are not UTF-8 stays as it is.
pub(crate) fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), |decoded| decoded.into_owned())
}

/// Returns the address of a page, with `%20` for blanks.
///
/// # Errors
///
/// Returns what is wrong, to complete “The address “…” …”.
pub(crate) fn page(text: &str) -> Result<String, &'static str> {
    match host(text) {
        Some(host) if !host.is_empty() => Ok(text.replace(' ', "%20")),
        Some(_) => Err("has no host"),
        None => Err("does not begin with http:// or https://; scheme = \"https\" puts that before it"),
    }
}

/// Returns the source of a picture: an https address with `%20` for blanks, or a path below the folder of the file.
///
/// # Errors
///
/// Returns what is wrong, to complete “The picture “…” …”.
pub fn picture(text: &str) -> Result<String, &'static str> {
    if text.len() > MAX_SOURCE {
        return Err("is longer than 2,000 bytes");
    }
    if let Some(host) = host(text) {
        let secure = text
            .get(..5)
            .filter(|scheme| scheme.eq_ignore_ascii_case("http:"))
            .map_or_else(|| text.to_owned(), |_| format!("https{}", &text[4..]));
        return if host.is_empty() { Err("has no host") } else { Ok(secure.replace(' ', "%20")) };
    }
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    match scheme {
        Some("data") => return Err("is data within the record; save it as a file, and name that"),
        Some(drive) if drive.len() == 1 => {
            return Err("is a path of another computer; name it relative to the folder of the file");
        }
        Some("file" | "ftp" | "blob" | "mailto" | "javascript") => {
            return Err("is neither an https address nor a path below the folder of the file");
        }
        _ => {}
    }
    let path = text.replace('\\', "/");
    if path.starts_with("//") {
        return Err("is an address without a scheme; scheme = \"https\" puts that before it");
    }
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return Err(
            "is not below the folder of the file; copy it there, and name it relative to that folder",
        );
    }
    Ok(path)
}

fn host(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let is_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    is_web.then(|| rest.split(['/', '?', '#']).next().unwrap_or_default().trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_https_addresses_or_paths() {
        for (text, source) in [
            ("http://a.example/x 1.jpg", Ok("https://a.example/x%201.jpg")),
            ("HTTPS://a.example/x.jpg", Ok("HTTPS://a.example/x.jpg")),
            ("images/009 a.jpg", Ok("images/009 a.jpg")),
            ("images\\007.jpg", Ok("images/007.jpg")),
            ("view: south.jpg", Ok("view: south.jpg")),
            ("https:///x.jpg", Err("has no host")),
            ("data:image/png;base64,AA", Err("is data within the record; save it as a file, and name that")),
            ("C:\\a.jpg", Err("is a path of another computer; name it relative to the folder of the file")),
            ("file:///a.jpg", Err("is neither an https address nor a path below the folder of the file")),
            (
                "//a.example/x.jpg",
                Err("is an address without a scheme; scheme = \"https\" puts that before it"),
            ),
            (
                "../a.jpg",
                Err(
                    "is not below the folder of the file; copy it there, and name it relative to that folder",
                ),
            ),
        ] {
            assert_eq!(picture(text), source.map(str::to_owned), "{text}");
        }
        assert_eq!(
            picture(&format!("https://a.example/{}", "x".repeat(2_000))),
            Err("is longer than 2,000 bytes")
        );
    }

    #[test]
    fn pages_are_web_addresses() {
        assert_eq!(page("http://a.example/PL 007").unwrap(), "http://a.example/PL%20007");
        assert!(page("a.example").is_err());
        assert_eq!(page("https://"), Err("has no host"));
        assert_eq!(with_scheme("a.example/x", "https"), "https://a.example/x");
        assert_eq!(with_scheme("//a.example/x", "https"), "https://a.example/x");
        assert_eq!(with_scheme("http://a.example", "https"), "http://a.example");
        assert_eq!(decoded("Bar%2011/b%C3%BC.png"), "Bar 11/bü.png");
        assert_eq!(decoded("100%25 %FC"), "100%25 %FC");
    }
}
