//! A call of the API as code, in the languages that the pages show.

use serde_json::Value;

/// A GET of an address, with an answer that is shown.
pub(crate) struct CodedCall<'a> {
    /// The address without a query.
    pub(crate) url: String,
    /// The parameters of the query.
    pub(crate) query: &'a [(&'static str, String)],
    /// The key that the call has, or what stands for it.
    pub(crate) key: Option<&'a str>,
    pub(crate) body: Body<'a>,
}

/// What the answer to a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body<'a> {
    Json,
    Text,
    /// A picture, which is saved in a file of this name.
    Picture(&'a str),
}

/// A call in one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The name of the language.
    pub language: &'static str,
    /// Its part of the ids on a page.
    pub id: &'static str,
    /// Where it runs.
    pub place: &'static str,
    /// The code, of several lines.
    pub text: String,
}

impl CodedCall<'_> {
    /// Returns the call in each language.
    pub(crate) fn all(&self) -> Vec<Code> {
        [
            ("curl", "curl", "In a shell", self.curl()),
            ("Python", "python", "With the package requests", self.python()),
            ("JavaScript", "javascript", "In a module, in a browser or Node.js", self.javascript()),
        ]
        .map(|(language, id, place, text)| Code { language, id, place, text })
        .into()
    }

    /// Returns the call as a shell command.
    pub(crate) fn curl(&self) -> String {
        let key =
            self.key.map_or_else(String::new, |key| format!("-H \"Authorization: Bearer {key}\" \\\n  "));
        let to_file = if matches!(self.body, Body::Picture(_)) { "-O " } else { "" };
        let query = match self.query {
            [] => String::new(),
            pairs => {
                format!("?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
            }
        };
        format!("curl {to_file}{key}\"{}{query}\"", self.url)
    }

    /// Returns the call in Python, with the package requests.
    pub(crate) fn python(&self) -> String {
        let mut lines = vec![format!("    {},", quoted(&self.url))];
        if !self.query.is_empty() {
            lines.push(format!("    params={{{}}},", self.members(quoted)));
        }
        if let Some(key) = self.key {
            lines.push(format!("    headers={{\"Authorization\": \"Bearer {key}\"}},"));
        }
        let shown = match self.body {
            Body::Json => "print(answer.json())".to_owned(),
            Body::Text => "print(answer.text)".to_owned(),
            Body::Picture(file) => {
                format!("with open({}, \"wb\") as file:\n    file.write(answer.content)", quoted(file))
            }
        };
        format!(
            "import requests\n\nanswer = requests.get(\n{}\n)\nanswer.raise_for_status()\n{shown}",
            lines.join("\n")
        )
    }

    /// Returns the call in JavaScript, for browsers and Node.js.
    pub(crate) fn javascript(&self) -> String {
        let mut code = format!("const url = new URL({});\n", quoted(&self.url));
        if !self.query.is_empty() {
            code += &format!("url.search = new URLSearchParams({{ {} }});\n", self.members(str::to_owned));
        }
        let headers = self.key.map_or_else(String::new, |key| {
            format!(", {{\n  headers: {{ Authorization: \"Bearer {key}\" }},\n}}")
        });
        let body = match self.body {
            Body::Json => "json",
            Body::Text => "text",
            Body::Picture(_) => "blob",
        };
        code + &format!(
            "const answer = await fetch(url{headers});\nif (!answer.ok) throw new Error(await answer.text());\nconsole.log(await answer.{body}());"
        )
    }

    /// Returns the query as the members of an object in Python or JavaScript.
    fn members(&self, name_of: impl Fn(&str) -> String) -> String {
        let members = self.query.iter().map(|(name, value)| {
            let value = if value.parse::<u32>().is_ok() { value.clone() } else { quoted(value) };
            format!("{}: {value}", name_of(name))
        });
        members.collect::<Vec<_>>().join(", ")
    }
}

/// Returns a text as a literal of JSON, which is one of Python and JavaScript too.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_code_in_three_languages() {
        let query = [("q", "The \"Ropewalk\"".to_owned()), ("limit", "2".to_owned())];
        let call =
            |key| CodedCall { url: "https://a.org/v1/search".into(), query: &query, key, body: Body::Json };
        let url = "https://a.org/v1/search?q=The+%22Ropewalk%22&limit=2";
        let keyed = call(Some("YOUR_KEY"));
        assert_eq!(keyed.curl(), format!("curl -H \"Authorization: Bearer YOUR_KEY\" \\\n  \"{url}\""));
        assert_eq!(call(None).curl(), format!("curl \"{url}\""));
        assert_eq!(
            keyed.python(),
            "import requests\n\nanswer = requests.get(\n    \"https://a.org/v1/search\",\n    params={\"q\": \"The \\\"Ropewalk\\\"\", \"limit\": 2},\n    headers={\"Authorization\": \"Bearer YOUR_KEY\"},\n)\nanswer.raise_for_status()\nprint(answer.json())"
        );
        assert_eq!(
            call(None).javascript(),
            "const url = new URL(\"https://a.org/v1/search\");\nurl.search = new URLSearchParams({ q: \"The \\\"Ropewalk\\\"\", limit: 2 });\nconst answer = await fetch(url);\nif (!answer.ok) throw new Error(await answer.text());\nconsole.log(await answer.json());"
        );
        assert!(
            keyed
                .javascript()
                .contains("fetch(url, {\n  headers: { Authorization: \"Bearer YOUR_KEY\" },\n})")
        );
    }

    #[test]
    fn a_picture_is_saved_in_a_file() {
        let url = "https://a.org/media/5e5e/300.webp".to_owned();
        let call = CodedCall { url, query: &[], key: None, body: Body::Picture("300.webp") };
        assert_eq!(call.curl(), "curl -O \"https://a.org/media/5e5e/300.webp\"");
        assert!(
            call.python()
                .ends_with("with open(\"300.webp\", \"wb\") as file:\n    file.write(answer.content)")
        );
    }
}
