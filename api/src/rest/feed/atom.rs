//! Atom (RFC 4287).

use answers::route::FEED;
use citation::one_line;

use super::{Entry, Feed, escaped};

/// Writes a feed as Atom.
pub(super) fn write(feed: &Feed<'_>) -> String {
    let site = feed.site;
    let (title, tagline, name) = (escaped(&feed.title()), escaped(site.tagline()), escaped(site.name()));
    let (address, page, updated) = (feed.address(FEED), feed.page(), feed.updated());
    let entries: String = feed.entries.iter().map(|one| entry(one, feed)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <feed xmlns=\"http://www.w3.org/2005/Atom\" xmlns:media=\"http://search.yahoo.com/mrss/\">\n\
         <id>{address}</id>\n<title>{title}</title>\n<subtitle>{tagline}</subtitle>\n<updated>{updated}</updated>\n\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{address}\"/>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{page}\"/>\n\
         <author><name>{name}</name></author>\n{entries}</feed>\n"
    )
}

fn entry(entry: &Entry, feed: &Feed<'_>) -> String {
    let record = &entry.record;
    let mut text = format!(
        "<entry>\n<id>{}</id>\n<title>{}</title>\n<updated>{}</updated>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n<category term=\"{}\" label=\"{}\"/>\n",
        entry.id,
        escaped(&entry.title),
        record.updated_at,
        escaped(&record.url),
        record.category.as_str(),
        record.category.title(),
    );
    if let Some(day) = entry.published() {
        text += &format!("<published>{day}T00:00:00Z</published>\n");
    }
    if let Some(curator) = &record.provenance.curated_by {
        text += &format!("<author><name>{}</name></author>\n", escaped(&one_line(curator)));
    }
    if let Some(intro) = &record.intro {
        text += &format!("<summary>{}</summary>\n", escaped(intro));
    }
    if let Some(html) = entry.html(feed.site) {
        text += &format!("<content type=\"html\">{}</content>\n", escaped(&html));
    }
    if let Some(picture) = &record.thumbnail {
        text += &format!("<media:thumbnail url=\"{}\"/>\n", escaped(picture));
    }
    text + "</entry>\n"
}
