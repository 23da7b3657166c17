//! Writes a small index and searches it.
//!
//! ```sh
//! cargo run -p lexical --features writer --example search -- musuem
//! ```
#![allow(clippy::print_stdout, reason = "an example prints its results")]

use lexical::{SearchDocument, SearchError, SearchReader, SearchRequest, SearchWriter};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    write(&mut SearchWriter::open_or_create(folder.path())?)?;

    let text = std::env::args().nth(1).unwrap_or_else(|| "musuem".to_owned());
    let reader = SearchReader::open(folder.path())?;
    let page = reader.search(&SearchRequest { text: &text, category: None, limit: 10, after: None })?;
    println!("{} results", page.total());
    for hit in page.hits() {
        println!("{:.3} {}}}", hit.score, String::from_utf8_lossy(hit.summary));
    }
    if let Some(relaxation) = page.relaxation() {
        println!("{relaxation:?}");
    }
    Ok(())
}

fn write(writer: &mut SearchWriter) -> Result<(), SearchError> {
    for (ordinal, name) in (0..).zip(["Concrete museum", "Timber house", "Museum by the sea"]) {
        writer.upsert(&SearchDocument {
            project: &ordinal.to_string(),
            ordinal,
            slug: &name.to_lowercase().replace(' ', "-"),
            name,
            studio: None,
            city: None,
            category: "architecture",
            intro: None,
            published: None,
            summary: format!("{{\"name\":\"{name}\"").as_bytes(),
            state: b"",
            listed: true,
        })?;
    }
    writer.commit("checkpoint 1")
}
