//! The OpenAPI documents with public tools: Schemathesis tests the service against them, and generated clients call it.

use kit::ProgramOutput;
use serde_json::{Value, json};

use crate::installed::Clients;
use crate::served::Served;

/// The document, and the one for tools that read only OpenAPI 3.0.
const DOCUMENTS: [&str; 2] = ["/openapi.json", "/openapi-3.0.json"];

/// The phases of Schemathesis in two parts: what follows from the document and from answers to it, and what is made up at random.
const DERIVED: &str = "examples,coverage,stateful";
const RANDOM: &str = "fuzzing";

/// The number of examples of each operation in continuous integration; `LOGGIA_TEST_EXAMPLES=100` for the long run.
const EXAMPLES: &str = "10";

/// Lets Schemathesis go through some of its phases.
async fn assert_without_issues(document: &str, phases: &str) {
    let Some(clients) = Clients::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let document = format!("{}{document}", served.base);
    let examples = std::env::var("LOGGIA_TEST_EXAMPLES").unwrap_or_else(|_| EXAMPLES.to_owned());
    let args = [
        &document,
        &served.key,
        "--phases",
        phases,
        "--max-examples",
        &examples,
        "--seed",
        "1",
        "--warnings",
        "off",
        "--no-color",
    ];
    let output = clients.python("openapi", "fuzz_rest.py", &args).await.success();
    let report = &output.stdout;
    assert!(report.contains("Selected: 14/14") && report.contains("No issues found"), "{output}");
}

// A test for each document and part, so that they run at the same time.

#[tokio::test]
async fn schemathesis_finds_no_fault_in_what_the_document_says() {
    assert_without_issues(DOCUMENTS[0], DERIVED).await;
}

#[tokio::test]
async fn schemathesis_finds_no_fault_in_what_the_document_of_openapi_3_0_says() {
    assert_without_issues(DOCUMENTS[1], DERIVED).await;
}

#[tokio::test]
async fn schemathesis_finds_no_fault_in_random_requests() {
    assert_without_issues(DOCUMENTS[0], RANDOM).await;
}

#[tokio::test]
async fn schemathesis_finds_no_fault_in_random_requests_by_the_document_of_openapi_3_0() {
    assert_without_issues(DOCUMENTS[1], RANDOM).await;
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
