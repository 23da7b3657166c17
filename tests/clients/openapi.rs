//! The OpenAPI documents with public tools: Schemathesis tests the service against them, and generated clients call it.

use kit::ProgramOutput;
use serde_json::{Value, json};

use crate::installed::Clients;
use crate::served::Served;

/// Both versions of the document.
const DOCUMENTS: [&str; 2] = ["/openapi.json", "/openapi-3.0.json"];

#[tokio::test]
async fn schemathesis_finds_no_fault() {
    let Some(clients) = Clients::find() else { return };
    let Some(served) = Served::shared().await else { return };
    for document in DOCUMENTS {
        let document = format!("{}{document}", served.base);
        let args = [
            &document,
            &served.key,
            "--max-examples",
            "30",
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
