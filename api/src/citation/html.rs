//! The page of a citation.

use std::fmt::Write;

use super::{CitationPage, CitedRecord, Format, one_line};

/// The page as HTML.
pub(crate) fn html(page: &CitationPage) -> String {
    let (record, citation) = (&page.record, &page.citation);
    let mut body = String::new();
    // Writing to a string never fails.
    if let Some(withdrawn) = &page.withdrawn {
        let _ = writeln!(
            body,
            "<p role=\"note\">This project left the catalog on {}: {}</p>",
            escape(&withdrawn.at.to_string()[..10]),
            escape(&withdrawn.reason)
        );
    } else if !page.is_newest() {
        let _ = writeln!(
            body,
            "<p role=\"note\">This is revision {}. <a href=\"{}\">Revision {}</a> is newer.</p>",
            record.revision,
            escape(&page.newest.citation),
            page.newest.revision
        );
    }
    let _ =
        writeln!(body, "<h1>{}</h1>\n<p>{}</p>", escape(&one_line(&record.name)), escape(&citation.text()));
    body += &content(record);
    for format in &Format::ALL[1..] {
        let (address, kind, name) = (page.address_in(*format), format.media_type(), format.name());
        let _ = writeln!(body, "<a href=\"{address}\" type=\"{kind}\">{name}</a>");
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n{}\
         <script type=\"application/ld+json\">{}</script>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escape(&one_line(&record.name)),
        head(page),
        citation.json_ld()
    )
}

/// What the revision said.
fn content(record: &CitedRecord) -> String {
    let mut content = String::new();
    for image in &record.images {
        let (url, alt) = (escape(&image.url), escape(image.alt.as_deref().unwrap_or_default()));
        let (width, height) = (image.width, image.height);
        let _ = writeln!(content, "<img src=\"{url}\" width=\"{width}\" height=\"{height}\" alt=\"{alt}\">");
    }
    for text in [&record.intro, &record.description, &record.design_language].into_iter().flatten() {
        let _ = writeln!(content, "<p>{}</p>", escape(text));
    }
    let taste = record.taste.recorded().map(|(name, text)| (name.to_owned(), text));
    let details = record.details.iter().map(|detail| (detail.label.clone(), detail.value.as_str()));
    for (label, value) in taste.chain(details) {
        let _ = writeln!(content, "<p>{}: {}</p>", escape(&label), escape(value));
    }
    content
}

fn head(page: &CitationPage) -> String {
    let mut head = format!("<link rel=\"canonical\" href=\"{}\">\n", escape(&page.citation.url));
    for (name, content) in page.citation.metadata() {
        let attribute = if name.starts_with("og:") { "property" } else { "name" };
        head += &format!("<meta {attribute}=\"{name}\" content=\"{}\">\n", escape(&content));
    }
    head
}

/// A text as it stands in HTML and XML, between tags or in quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}
