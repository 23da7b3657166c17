//! Calls of operations about the newest project of this catalog: as code, as a form, and with the answer.

use std::time::Duration;

use answers::deadline::Deadline;
use answers::site::Site;
use answers::state::ApiState;
use axum::Router;
use axum::body::to_bytes;
use http::header::CONTENT_TYPE;
use http::{Request, StatusCode};
use schemas::taste::Dimension;
use serde_json::Value;
use tower::ServiceExt;

use super::super::client_setups::KEY;
use super::super::code::{Body, Code, CodedCall};
use super::operation::{Operation, pretty};

/// The time within which an answer must come.
const TIME_LIMIT: Duration = Duration::from_secs(2);
/// The maximum size of an answer that is read, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// The maximum number of lines of an answer that are shown.
const MOST_LINES: usize = 80;

/// The endpoints of the catalog, called in this process: calls need no key and are not counted.
#[derive(Clone)]
pub(crate) struct Endpoints(pub(crate) Router);

/// What examples are about: a project, and words that find it.
pub(super) struct Subject {
    slug: String,
    revision: String,
    category: String,
    name: String,
    dimension: &'static str,
    taste: String,
    /// The path of its first picture below `/media/`.
    picture: (String, String),
}

/// An example call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Example {
    /// The path with its parameters filled in.
    path: String,
    /// The parameters with their values.
    values: Vec<(&'static str, String)>,
    /// Those of the query.
    query: Vec<(&'static str, String)>,
    is_keyed: bool,
    body: ExampleBody,
}

/// What an example answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExampleBody {
    Json,
    Text,
    Picture,
}

impl Endpoints {
    /// Returns the answer to a GET of a path and query, shortened, if it is JSON or text; `None` for an error.
    pub(super) async fn answer(&self, path: &str) -> Option<String> {
        let (text, is_json) = self.get(path).await?;
        let text = if is_json { pretty(&serde_json::from_str(&text).ok()?) } else { text };
        let mut lines = text.lines();
        let shown: Vec<&str> = lines.by_ref().take(MOST_LINES).collect();
        Some(format!("{}{}", shown.join("\n"), if lines.next().is_some() { "\n…" } else { "" }))
    }

    async fn get(&self, path: &str) -> Option<(String, bool)> {
        let request = Request::get(path)
            .extension(Deadline::within(TIME_LIMIT))
            .body(axum::body::Body::empty())
            .ok()?;
        let response = self.0.clone().oneshot(request).await.ok()?;
        if response.status() != StatusCode::OK {
            return None;
        }
        let kind = response.headers().get(CONTENT_TYPE)?.to_str().ok()?.to_owned();
        let bytes = to_bytes(response.into_body(), MOST_BYTES).await.ok()?;
        Some((String::from_utf8(bytes.to_vec()).ok()?, kind.contains("json")))
    }
}

impl Subject {
    /// Returns the newest project; where there is none, made-up values that show the form of each.
    pub(super) async fn newest(state: &ApiState, endpoints: &Endpoints) -> Subject {
        let record = match state.newest_slug() {
            Some(slug) => endpoints.get(&format!("/v1/project/{slug}")).await,
            None => None,
        };
        let record = record.and_then(|(text, _)| serde_json::from_str(&text).ok());
        Subject::of(&record.unwrap_or(Value::Null))
    }

    fn of(record: &Value) -> Subject {
        let text = |value: &Value, otherwise: &str| value.as_str().unwrap_or(otherwise).to_owned();
        let tastes = Dimension::ALL.into_iter().map(Dimension::as_str);
        let taste = tastes.into_iter().find_map(|name| {
            let words = record["taste"][name].as_str()?.split([',', ';']).next()?.trim();
            (!words.is_empty()).then(|| (name, words.to_owned()))
        });
        let (dimension, taste) = taste.unwrap_or(("material", "oak".to_owned()));
        let picture = record["images"][0]["url"].as_str().and_then(|url| {
            let (folder, file) = url.rsplit_once('/')?;
            Some((folder.rsplit('/').next()?.to_owned(), file.to_owned()))
        });
        Subject {
            slug: text(&record["slug"], "slug-of-a-project"),
            revision: record["revision"].as_u64().unwrap_or(1).to_string(),
            category: text(&record["category"], "architecture").to_lowercase(),
            name: text(&record["name"], "house"),
            dimension,
            taste,
            picture: picture.unwrap_or_else(|| ("5e".repeat(32), "640.webp".to_owned())),
        }
    }

    /// Returns the beginning of the name, as somebody types it.
    fn beginning(&self) -> String {
        self.name.chars().take(4).collect::<String>().trim_end().to_owned()
    }
}

impl Example {
    /// Returns a call of an operation.
    pub(super) fn of(operation: &Operation, subject: &Subject) -> Example {
        let few = ("limit", "2".to_owned());
        let query = match operation.id.as_str() {
            "search" => vec![("q", subject.name.clone()), few],
            "suggest" => vec![("q", subject.beginning()), few],
            "similar_to_text" => vec![("text", subject.taste.clone()), few],
            "similar" | "terms" | "changes" => vec![few],
            "projects" => vec![("category", subject.category.clone()), few],
            "taste" => vec![(subject.dimension, subject.taste.clone()), few],
            "cite" => vec![("format", "bibtex".to_owned())],
            _ => Vec::new(),
        };
        let body = match operation.id.as_str() {
            "cite" | "feed" => ExampleBody::Text,
            "picture" => ExampleBody::Picture,
            _ => ExampleBody::Json,
        };
        let (picture, file) = subject.picture.clone();
        let named = [
            ("slug", subject.slug.clone()),
            ("revision", subject.revision.clone()),
            ("picture", picture),
            ("file", file),
        ];
        let of_path = named.into_iter().filter(|(name, _)| operation.path.contains(&format!("{{{name}}}")));
        let of_path: Vec<(&'static str, String)> = of_path.collect();
        let path = of_path
            .iter()
            .fold(operation.path.clone(), |path, (name, value)| path.replace(&format!("{{{name}}}"), value));
        let values = of_path.into_iter().chain(query.iter().cloned()).collect();
        Example { path, values, query, is_keyed: operation.is_keyed, body }
    }

    /// Returns the value of a parameter, empty if the example does not have it.
    pub(super) fn value(&self, name: &str) -> &str {
        self.values.iter().find(|(own, _)| *own == name).map_or("", |(_, value)| value)
    }

    /// Returns the path and the query.
    pub(super) fn target(&self) -> String {
        if self.query.is_empty() {
            return self.path.clone();
        }
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.query).finish();
        format!("{}?{query}", self.path)
    }

    /// Returns the path.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the call in each language, with what stands for a key where it needs one.
    pub(super) fn code(&self, site: &Site, with_key: bool) -> Vec<Code> {
        let body = match self.body {
            ExampleBody::Json => Body::Json,
            ExampleBody::Text => Body::Text,
            ExampleBody::Picture => Body::Picture(self.value("file")),
        };
        let key = (with_key && self.is_keyed).then_some(KEY);
        CodedCall { url: format!("{site}{}", self.path), query: &self.query, key, body }.all()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn example(id: &str, record: &Value) -> Example {
        let operation = Operation::of(&schemas::contract::openapi(), &[id]).remove(0);
        Example::of(&operation, &Subject::of(record))
    }

    fn library() -> Value {
        json!({
            "slug": "library", "revision": 3, "category": "Architecture", "name": "The \"Ropewalk\"",
            "taste": {"material": null, "light": "north light, even"},
            "images": [{"url": "https://a.org/media/5e5e/300.webp"}],
        })
    }

    #[test]
    fn an_example_has_a_key_where_the_call_needs_one() {
        let site: Site = "https://a.org".parse().unwrap();
        let curl = |id, with_key| example(id, &library()).code(&site, with_key).remove(0).text;
        let url = "\"https://a.org/v1/search?q=The+%22Ropewalk%22&limit=2\"";
        assert_eq!(curl("search", true), format!("curl -H \"Authorization: Bearer YOUR_KEY\" \\\n  {url}"));
        assert_eq!(curl("search", false), format!("curl {url}"));
        assert_eq!(curl("picture", false), "curl -O \"https://a.org/media/5e5e/300.webp\"");
    }

    #[test]
    fn an_example_is_about_the_given_project() {
        let target = |id| example(id, &library()).target();
        assert_eq!(target("project"), "/v1/project/library");
        assert_eq!(target("taste"), "/v1/taste?light=north+light&limit=2");
        assert_eq!(target("cite"), "/cite/library/3?format=bibtex");
        assert_eq!(target("picture"), "/media/5e5e/300.webp");
        assert_eq!(target("suggest"), "/v1/suggest?q=The&limit=2");
        assert_eq!(example("project", &Value::Null).target(), "/v1/project/slug-of-a-project");
        assert_eq!(example("cite", &library()).value("revision"), "3");
    }
}
