//! The texts of results with the words that match.

use std::borrow::Cow;

use read::search::{Highlighter, Hit, Relaxation};
use schemas::api::site;
use serde::Deserialize;

use super::detail::Detail;
use super::json_writer::JsonWriter;
use crate::error::ApiError;
use crate::site::Site;

/// The searched texts of a summary.
#[derive(Deserialize)]
struct Texts<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    studio: Option<Cow<'a, str>>,
    #[serde(borrow)]
    city: Option<Cow<'a, str>>,
    #[serde(borrow)]
    category: Cow<'a, str>,
    #[serde(borrow)]
    intro: Option<Cow<'a, str>>,
}

/// Writes `results` as `search::write` does, each with `highlights`: the texts in which words match, as HTML.
///
/// # Errors
///
/// If a summary cannot be parsed or a value not be serialised.
pub fn write(
    json: &mut JsonWriter<'_>,
    hits: &[Hit<'_>],
    (text, said): (&str, Option<&Relaxation>),
    (detail, site): (Detail, &Site),
) -> Result<(), ApiError> {
    let highlighter = Highlighter::new(text, said);
    let results = hits.iter().map(|hit| (detail.of(hit.summary), hit));
    json.projects("results", results, |json, hit| {
        json.member("score", &hit.score)?;
        json.member("highlights", &of(hit.summary, &highlighter, site)?)
    })
}

/// Returns the marked texts of a summary, which lacks the brace after its last member.
///
/// # Errors
///
/// If the summary cannot be parsed.
pub fn of(
    summary: &[u8],
    highlighter: &Highlighter,
    site: &Site,
) -> Result<serde_json::Map<String, serde_json::Value>, ApiError> {
    let mut object = Vec::with_capacity(summary.len() + 64);
    site::fill(summary, site.as_str(), &mut object);
    object.push(b'}');
    let texts: Texts<'_> = serde_json::from_slice(&object).map_err(ApiError::internal)?;
    let fields = [
        ("name", Some(texts.name)),
        ("studio", texts.studio),
        ("city", texts.city),
        ("category", Some(texts.category)),
        ("intro", texts.intro),
    ];
    let marked =
        fields.into_iter().filter_map(|(field, text)| Some((field.to_owned(), highlighter.mark(&text?)?)));
    Ok(marked.map(|(field, html)| (field, html.into())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_result_has_the_texts_in_which_words_match() {
        let site: Site = "https://x.org".parse().unwrap();
        let summaries = [
            "{\"slug\":\"a\",\"name\":\"Stone <house>\",\"studio\":\"S \\\"Stone\\\"\",\"city\":null,\"category\":\"Art\",\
             \"intro\":\"Of glass.\",\"url\":\"\u{1}/projects/a\"",
            "{\"name\":\"Other\",\"studio\":null,\"city\":null,\"category\":\"Design\",\"intro\":null",
        ];
        let hits = summaries.map(|summary| Hit { summary: summary.as_bytes(), score: 1.5 });
        let mut json = JsonWriter::object(&site, 100);
        write(&mut json, &hits, ("stone", None), (Detail::Full, &site)).unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&json.finish()).unwrap();
        assert_eq!(
            answer["results"][0]["highlights"],
            serde_json::json!({
                "name": "<mark>Stone</mark> &lt;house&gt;",
                "studio": "S &quot;<mark>Stone</mark>&quot;",
            })
        );
        assert_eq!(answer["results"][0]["url"], "https://x.org/projects/a");
        assert_eq!(answer["results"][1]["highlights"], serde_json::json!({}));
    }
}
