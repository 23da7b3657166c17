//! The style sheet, fonts and scripts of the pages, embedded in the binary.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::{IntoResponse, Response};
use data_encoding::HEXLOWER;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use sha2::{Digest, Sha256};

use answers::error::ApiError;

/// Name, media type and content.
type Asset = (&'static str, &'static str, &'static [u8]);

/// The style of every page, and of results and projects. What only services to callers need is in a sheet of its own.
const SITE_CSS: &str = concat!(
    include_str!("../assets/frame.css"),
    include_str!("../assets/results.css"),
    include_str!("../assets/record.css"),
    include_str!("../assets/media.css"),
);

const ASSETS: [Asset; 10] = [
    ("site.css", "text/css; charset=utf-8", SITE_CSS.as_bytes()),
    ("services.css", "text/css; charset=utf-8", include_bytes!("../assets/services.css")),
    ("site.js", "text/javascript; charset=utf-8", include_bytes!("../assets/site.js")),
    ("pictures.js", "text/javascript; charset=utf-8", include_bytes!("../assets/pictures.js")),
    ("api.js", "text/javascript; charset=utf-8", include_bytes!("../assets/api.js")),
    ("icon.svg", "image/svg+xml", include_bytes!("../assets/icon.svg")),
    ("favicon.ico", "image/vnd.microsoft.icon", include_bytes!("../assets/favicon.ico")),
    ("apple-touch-icon.png", "image/png", include_bytes!("../assets/apple-touch-icon.png")),
    ("instrument-sans-latin.woff2", "font/woff2", include_bytes!("../assets/instrument-sans-latin.woff2")),
    (
        "instrument-sans-latin-ext.woff2",
        "font/woff2",
        include_bytes!("../assets/instrument-sans-latin-ext.woff2"),
    ),
];

/// A part of the path of every asset that differs between builds, so that browsers may cache assets permanently.
pub(super) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    ASSETS.iter().for_each(|(_, _, content)| hash.update(content));
    HEXLOWER.encode(&hash.finalize()[..6])
});

pub(super) async fn asset(path: Result<Path<(String, String)>, PathRejection>) -> Result<Response, ApiError> {
    let Path((version, file)) = path.map_err(|_| ApiError::not_found())?;
    let (_, kind, content) =
        ASSETS.into_iter().find(|(name, _, _)| *name == file).ok_or_else(ApiError::not_found)?;
    // A page of another build gets the present asset, uncached.
    let keeping = if version == *VERSION { "public, max-age=31536000, immutable" } else { "no-store" };
    let headers =
        [(CONTENT_TYPE, HeaderValue::from_static(kind)), (CACHE_CONTROL, HeaderValue::from_static(keeping))];
    Ok((headers, content).into_response())
}

/// Returns an icon at the path where browsers look for it without being told, for a day.
pub(super) fn icon(path: &'static str) -> impl IntoResponse + Clone {
    let file = path.trim_start_matches('/');
    let found = ASSETS.into_iter().find(|(name, _, _)| *name == file);
    let (_, kind, content) = found.unwrap_or_default();
    let cache = HeaderValue::from_static("public, max-age=86400");
    ([(CONTENT_TYPE, HeaderValue::from_static(kind)), (CACHE_CONTROL, cache)], content)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes that are no style: scripts and tests find elements by them.
    const WITHOUT_RULE: [&str; 2] = ["cited", "status"];

    fn template(name: &str) -> String {
        let path = format!("{}/templates/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Returns a template together with all that it extends or imports.
    fn with_imports(text: String) -> String {
        let named = text.split("{% ").filter_map(|block| {
            let file = block.strip_prefix("import \"").or_else(|| block.strip_prefix("extends \""))?;
            file.split('"').next()
        });
        let imported: Vec<String> = named.map(|name| with_imports(template(name))).collect();
        text + &imported.concat()
    }

    /// Returns the classes of a template's elements, those under a condition too.
    fn used(text: &str) -> Vec<&str> {
        let attributes = text.split("class=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let outside_blocks = attributes.flat_map(|names| {
            names.split("{%").map(|part| part.split_once("%}").map_or(part, |(_, after)| after))
        });
        outside_blocks.flat_map(str::split_whitespace).collect()
    }

    /// Returns the classes that selectors of a sheet name.
    fn styled(sheet: &str) -> Vec<&str> {
        let is_other = |letter: char| !letter.is_ascii_lowercase() && letter != '-';
        sheet.split('.').skip(1).filter_map(|rest| rest.split(is_other).next()).collect()
    }

    #[test]
    fn each_class_of_a_page_has_a_rule_in_a_sheet_of_that_page() {
        let site = styled(SITE_CSS);
        let services = styled(include_str!("../assets/services.css"));
        let mut without: Vec<String> = Vec::new();
        let mut pages = 0;
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/templates")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let own = template(&name);
            if !own.contains("{% extends ") {
                continue;
            }
            pages += 1;
            let has_services = own.contains("/services.css\"");
            let text = with_imports(own);
            let is_styled =
                |class: &str| site.contains(&class) || (has_services && services.contains(&class));
            let bare =
                used(&text).into_iter().filter(|class| !is_styled(class) && !WITHOUT_RULE.contains(class));
            without.extend(bare.map(|class| format!("{class} in {name}")));
        }
        assert!(pages > 20, "{pages}");
        assert_eq!(without, [""; 0]);
    }

    #[test]
    fn no_rule_tightens_headings_that_are_written_from_right_to_left() {
        // A selector with more classes would win over `h1:dir(rtl)`, which has one.
        let classes = |selector: &str| selector.matches(['.', ':', '[', '#']).count();
        let is_heading = |selector: &&str| ["h1", "h2", "h3"].iter().any(|name| selector.ends_with(name));
        let rules = SITE_CSS.lines().filter_map(|line| line.split_once('{'));
        let tight = rules.filter(|(_, style)| style.contains("letter-spacing: -"));
        let headings: Vec<&str> =
            tight.flat_map(|(selectors, _)| selectors.split(',').map(str::trim)).filter(is_heading).collect();
        assert!(headings.contains(&"h1"), "{headings:?}");
        assert!(headings.iter().all(|selector| classes(selector) < 2), "{headings:?}");
        assert!(
            SITE_CSS
                .contains("h1:dir(rtl), h2:dir(rtl), h3:dir(rtl), .intro:dir(rtl) { letter-spacing: 0; }")
        );
    }
}
