//! Searches by meaning: the parameters and the operation beside those of words.

use serde_json::{Value, json};

use super::list_options::{NOT_BLANK, add_list_options};
use super::responses::responses;
use crate::api::search::{MAX_QUERY_CHARACTERS, MODES};

/// Returns the parameter `mode` of a search.
pub(super) fn mode_parameter() -> Value {
    json!({"name": "mode", "in": "query",
        "description": "What is compared: the words of the text; its meaning, so that “burial ground” finds graveyards; or both: first all projects with \
            all words, as words finds them, then the others that are near in meaning, the nearest first. With meaning and both each result has matched. \
            The meaning of English is known; a text of which the service knows too little is answered by words, and note says so. Where the service \
            has no text model, both is answered by words too, and meaning is 503. A call of meaning or both counts as one more in the limit of calls \
            within a second.",
        "schema": {"type": "string", "enum": MODES, "default": MODES[0]}})
}

/// Returns the parameter `near` of the words in use.
pub(super) fn near_parameter() -> Value {
    json!({"name": "near", "in": "query",
        "description": "Only the words or phrases nearest in meaning to this one, the nearest first: wood finds oak and larch. Not together with \
            starts_with and cursor. Where the service has no text model the answer is 503.",
        "schema": {"type": "string", "maxLength": 100}})
}

/// Returns the operation that finds what is near to a text, with its parameters `limit` and `cursor`.
pub(super) fn similar_to_text(
    answer: &schemars::Schema,
    problem: &schemars::Schema,
    [limit, cursor]: [Value; 2],
) -> Value {
    let text = json!({"name": "text", "in": "query", "required": true,
        "description": "A text in English, of a word or of some sentences.",
        "schema": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_CHARACTERS, "pattern": NOT_BLANK}});
    let mut parameters = json!([text, limit, cursor]);
    add_list_options(&mut parameters, &[]);
    if let Some(parameters) = parameters.as_array_mut() {
        parameters.retain(|one| one["name"] != "sort" && one["name"] != "facets");
    }
    json!({"get": {
        "operationId": "similar_to_text",
        "summary": "The projects nearest in meaning to a text",
        "parameters": parameters,
        "responses": responses("A page of projects, the nearest first.", answer, problem, &[400, 401, 429, 503]),
    }})
}
