//! The OpenAPI documents with public tools: Schemathesis tests the service against them, and generated clients call it.

use kit::ProgramOutput;
use serde_json::{Value, json};

use crate::installed::Clients;
use crate::served::Served;

/// The document, and the one for tools that read only OpenAPI 3.0.
const DOCUMENTS: [&str; 2] = ["/openapi.json", "/openapi-3.0.json"];

/// A part of what Schemathesis sends.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// What follows from the document, and from answers to it: only valid requests, or only invalid ones.
    Derived(&'static str),
    /// What is made up at random from this seed.
    Random(&'static str),
}

/// The number of random examples of each operation in continuous integration; `LOGGIA_TEST_EXAMPLES=100` for the long run. Both documents
/// allow the same requests, so with a seed of their own for each, the service is sent twice as many.
const EXAMPLES: &str = "5";

/// Lets Schemathesis send a part of what it can.
async fn assert_without_issues(document: &str, part: Part) {
    let Some(clients) = Clients::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let document = format!("{}{document}", served.base);
    let examples = std::env::var("LOGGIA_TEST_EXAMPLES").unwrap_or_else(|_| EXAMPLES.to_owned());
    let (phases, mode, seed) = match part {
        Part::Derived(mode) => ("examples,coverage,stateful", mode, "1"),
        Part::Random(seed) => ("fuzzing", "all", seed),
    };
    let args = [
        &document,
        &served.key,
        "--phases",
        phases,
        "--mode",
        mode,
        "--max-examples",
        &examples,
        "--seed",
        seed,
        "--warnings",
        "off",
        "--no-color",
    ];
    let output = clients.python("openapi", "fuzz_rest.py", &args).await.success();
    let report = &output.stdout;
    assert!(report.contains("Selected: 15/15") && report.contains("No issues found"), "{output}");
}

// A test for each document and part, so that they run at the same time.

#[tokio::test]
async fn schemathesis_finds_no_fault_in_what_the_document_allows() {
    assert_without_issues(DOCUMENTS[0], Part::Derived("positive")).await;
}

#[tokio::test]
async fn schemathesis_finds_no_fault_in_what_the_document_forbids() {
    assert_without_issues(DOCUMENTS[0], Part::Derived("negative")).await;
}

#[tokio::test]
async fn schemathesis_finds_no_fault_in_what_the_document_of_openapi_3_0_allows() {
    assert_without_issues(DOCUMENTS[1], Part::Derived("positive")).await;
}

#[tokio::test]
async fn schemathesis_finds_no_fault_in_what_the_document_of_openapi_3_0_forbids() {
    assert_without_issues(DOCUMENTS[1], Part::Derived("negative")).await;
}

#[tokio::test]
async fn schemathesis_finds_no_fault_in_random_requests() {
    assert_without_issues(DOCUMENTS[0], Part::Random("1")).await;
}

#[tokio::test]
async fn schemathesis_finds_no_fault_in_random_requests_by_the_document_of_openapi_3_0() {
    assert_without_issues(DOCUMENTS[1], Part::Random("2")).await;
}

/// Checks what every generated client must have read.
fn assert_read(output: ProgramOutput, more: &Value) {
    let mut expected = json!({
        "count": 3, "years": [null, null, null], "published": "2024-01-02", "material": "oak and brick", "near": 2,
        "tier": "free", "month": 7, "unknown": "Unknown slug", "refused": "Invalid key",
    });
    for (name, value) in more.as_object().unwrap() {
        expected[name] = value.clone();
    }
    assert_eq!(output.success().json(), expected);
}

#[tokio::test]
async fn a_client_by_openapi_python_client_reads_every_answer() {
    let Some(clients) = Clients::find() else { return };
    let Some(served) = Served::shared().await else { return };
    for document in DOCUMENTS {
        let folder = tempfile::tempdir().unwrap();
        let args = [&served.base, document, &served.key, folder.path().to_str().unwrap()];
        let output = clients.python("openapi", "generated.py", &args).await;
        assert_read(output, &json!({}));
    }
}

#[tokio::test]
async fn a_client_by_openapi_typescript_reads_every_answer() {
    let Some(clients) = Clients::find() else { return };
    let Some(served) = Served::shared().await else { return };
    for document in DOCUMENTS {
        let folder = tempfile::tempdir().unwrap();
        let args = [&served.base, document, &served.key, folder.path().to_str().unwrap()];
        let output = clients.script("generated.mjs", &args).await;
        assert_read(output, &json!({"cited": true, "refused": "A key is needed"}));
    }
}
