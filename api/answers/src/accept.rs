//! The header `Accept` of a request, which may have several lines.

pub use citation::accept::Wish;
use http::HeaderMap;
use http::header::ACCEPT;

/// Returns the value of the header with its lines joined; empty without one.
pub fn joined(headers: &HeaderMap) -> String {
    let lines: Vec<&str> = headers.get_all(ACCEPT).iter().filter_map(|line| line.to_str().ok()).collect();
    lines.join(",")
}

/// Returns whether the header names a media type itself, other than to refuse it (`q=0`).
pub fn names(headers: &HeaderMap, media_type: &str) -> bool {
    let wish = Wish::of(&joined(headers), media_type);
    wish.exactness == 3 && wish.is_wanted()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_media_type_is_named_on_any_line_but_not_to_be_refused() {
        for (lines, is_named) in [
            (&[][..], false),
            (&["text/html"], true),
            (&["application/json", "Text/HTML;q=0.1"], true),
            (&["text/html;q=0", "*/*"], false),
            (&["text/html; q=0.0, text/*"], false),
            (&["*/*"], false),
            (&["text/htmlx"], false),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(ACCEPT, HeaderValue::from_static(line));
            }
            assert_eq!(names(&headers, "text/html"), is_named, "{lines:?}");
        }
    }
}
