//! The service for the browser: the first projects of the demo catalog, some with pictures, one withdrawn, and some
//! with hostile names.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use demo::{DEMO_SEED, catalog};
use image::{ImageFormat, Rgb, RgbImage};
use kit::http::Http;
use kit::process::{self, Loggia};
use kit::{ProgramOutput, Shared, TIMEOUT};
use serde_json::{Map, Value, json};

pub(crate) use kit::process::LOGGIA;

/// The number of projects of the demo catalog, and of those with pictures.
const PROJECTS: usize = 30;
const PICTURED: usize = 6;

/// The pictures of the first project: its main one, and a row of a landscape, a portrait and a panorama.
const FIRST: [usize; 4] = [0, PICTURED, PICTURED + 1, PANORAMA];
const PANORAMA: usize = PICTURED + 2;

/// A project that is written from right to left.
pub(crate) const ARABIC: &str = "house-of-the-fig-tree";
pub(crate) const ARABIC_NAME: &str = "بيت شجرة التين";

/// A project that visitors look for in words of their own.
pub(crate) const SOUGHT: &str = "house-under-the-cedars";

/// The secret that signs payment notices.
pub(crate) const STRIPE_SECRET: &str = "whsec_loggia_browser_secret";

/// Hostile project names.
pub(crate) const HOSTILE: [&str; 4] = [
    "</script><img src=x onerror=alert(1)>",
    "\"><svg onload=alert(2)> & 'more'",
    "{{7*7}} <!-- <b>bold</b> --> javascript:alert(3)",
    "Überlanges-Wort-ohne-jede-Lücke-Überlanges-Wort-ohne-jede-Lücke-Überlanges-Wort-ohne-jede-Lücke-łódź",
];

/// `loggia up` on a temporary folder.
pub(crate) struct Served {
    _loggia: Loggia,
    folder: tempfile::TempDir,
    /// The base URL of the site.
    pub(crate) base: String,
    /// A valid key.
    pub(crate) key: String,
    /// The slugs of a project with four pictures, of one with a portrait, of one with two revisions and none, and of a
    /// withdrawn one.
    pub(crate) pictured: String,
    pub(crate) portrait: String,
    pub(crate) plain: String,
    pub(crate) withdrawn: String,
}

impl Served {
    /// Returns the service that concurrent tests share; `None` without a nats-server, with a message.
    pub(crate) async fn shared() -> Option<Arc<Self>> {
        static SHARED: Shared<Served> = Shared::new();
        SHARED.get(Self::start).await
    }

    /// Returns the path of the claim page of a new link for an address with a key.
    pub(crate) fn claim(&self, email: &str) -> String {
        run(self.folder.path(), &["keys", "issue", "--email", email]);
        let made = run(self.folder.path(), &["keys", "link", "--email", email]);
        let link = made["link"].as_str().unwrap();
        link[link.find("/claim/").unwrap()..].to_owned()
    }

    /// Starts, imports, and waits until everything is visible.
    async fn start() -> Option<Self> {
        let folder = kit::nats::data_folder().await?;
        let mut up = settings(process::command(&LOGGIA, folder.path()));
        up.args(["up", "--no-demo"]);
        let mut loggia = Loggia::spawn_command(up, folder.path());
        let http = loggia.ready().await;

        let records = records();
        for at in 0..=PANORAMA {
            picture(at).save_with_format(folder.path().join(format!("{at}.png")), ImageFormat::Png).unwrap();
        }
        let file = folder.path().join("records.ndjson");
        std::fs::write(
            &file,
            records.iter().map(|record| format!("{}\n", json!(record))).collect::<String>(),
        )
        .unwrap();
        let run = |args: &[&str]| run(folder.path(), args);
        run(&["import", file.to_str().unwrap()]);
        let slug = |at: usize| records[at]["slug"].as_str().unwrap().to_owned();
        let (pictured, portrait) = (slug(0), slug(1));
        let (plain, withdrawn) = (slug(PICTURED), slug(PROJECTS - 1));
        let reason = format!("Its owners asked for it. {}", HOSTILE[0]);
        run(&["curate", "withdraw", &withdrawn, "--reason", &reason, "--actor", "Ada Pelt"]);
        run(&["curate", "revise", &plain, "--set", "city=Łódź, Poland", "--actor", "Ada Pelt"]);
        let issued = run(&["keys", "issue", "--email", "waits@example.org"]);
        let key = issued["key"].as_str().unwrap().to_owned();
        complete(&http, &key, &records).await;
        let base = loggia.base().await;
        Some(Self { _loggia: loggia, folder, base, key, pictured, portrait, plain, withdrawn })
    }
}

/// Sets the environment of the service and of commands.
fn settings(mut command: Command) -> Command {
    command.env("LOGGIA_AUTH", "keys").env("LOGGIA_VECTORS", "builtin").env("LOGGIA_MAIL", "print:");
    // Browser tests send requests faster than people.
    command.env("LOGGIA_BURST_PER_ADDRESS", "0").env("LOGGIA_KEYS_PER_ADDRESS", "0");
    command.env("LOGGIA_CHECKOUT", "studio=https://pay.example.org/studio, pro=https://pay.example.org/pro");
    command.env("LOGGIA_STRIPE_SECRET", STRIPE_SECRET).env("LOGGIA_STRIPE_PRICES", "price_studio=studio");
    command
}

/// Runs a command on the service's folder; returns its output.
fn run(folder: &Path, args: &[&str]) -> Value {
    ProgramOutput::of(settings(process::command(&LOGGIA, folder)).args(args).arg("--json")).success().json()
}

/// Returns the first projects of the demo catalog with a few small pictures, and the hostile ones.
fn records() -> Vec<Map<String, Value>> {
    let mut records: Vec<_> = catalog(DEMO_SEED, PROJECTS).collect();
    for (at, record) in records.iter_mut().enumerate() {
        record.remove("pictures");
        if at < PICTURED {
            let shown = if at == 0 { FIRST.to_vec() } else { vec![at] };
            let named = shown
                .into_iter()
                .map(|at| json!({
                    "source": format!("{at}.png"), "alt": HOSTILE[0], "credit": HOSTILE[1],
                    "rights": if at == 0 { "https://creativecommons.org/licenses/by/4.0/" } else { HOSTILE[0] },
                }));
            record.insert("pictures".into(), named.collect());
        }
    }
    let hostile = HOSTILE.iter().zip(1..).map(|(name, number)| {
        let record = json!({
            "slug": format!("hostile-{number}"), "name": name, "studio": name, "city": name, "category": "art",
            "published": "2026-11-01", "intro": format!("Hostile. {name}"), "description": name,
            "design_language": name, "taste": {"material": name, "mood": name},
            "details": [{"label": name, "value": name}],
        });
        record.as_object().unwrap().clone()
    });
    records.extend(hostile);
    let others = [
        json!({
            "slug": ARABIC, "name": ARABIC_NAME, "studio": "مكتب الظل", "city": "دمشق، سوريا", "category": "architecture",
            "published": "2015-03-01", "intro": "بيت صغير من الحجر حول فناء فيه شجرة تين.",
            "description": "تفتح الغرف كلها على الفناء، ولا نافذة فيها على الشارع. (2014)",
            "details": [{"label": "المواد", "value": "حجر، خشب"}],
        }),
        json!({
            "slug": SOUGHT, "name": "House under the Cedars", "studio": "Invented Carpenters", "city": "Kiso, Japan",
            "category": "architecture", "published": "2014-05-01",
            "intro": "A timber house between cedars, with a brick hearth and a library.",
            "taste": {"material": "timber, paper", "subject": "house"},
        }),
    ];
    records.extend(others.map(|record| record.as_object().unwrap().clone()));
    records
}

/// Returns a picture in colours and a width that depend on the project.
fn picture(at: usize) -> RgbImage {
    let shade = u8::try_from(at * 30).unwrap();
    let (width, height) = match at {
        PANORAMA => (1600, 500),
        at if at.is_multiple_of(2) => (960, 720),
        _ => (600, 800),
    };
    RgbImage::from_fn(width, height, |x, y| match y > 300 && x > 150 {
        true => Rgb([shade, 90, 255 - shade]),
        false => Rgb([200, 220, shade]),
    })
}

/// Waits until all pictures and similar projects are shown.
async fn complete(http: &Http, key: &str, records: &[Map<String, Value>]) {
    let bearer = format!("Bearer {key}");
    let get =
        async |path: String| http.send("GET", &path, &[("authorization", bearer.as_str())], "").await.json();
    // All that is listed: one is withdrawn.
    let listed = format!("{} projects, each", records.len() - 1);
    kit::wait_until(TIMEOUT, "the front page", async || http.get("/").await.text().contains(&listed)).await;
    kit::wait_until(TIMEOUT, "the search", async || {
        http.get("/?q=hostile").await.text().contains(&format!("{} projects", HOSTILE.len()))
    })
    .await;
    for record in records.iter().take(PICTURED) {
        let slug = record["slug"].as_str().unwrap();
        let pictures = record["pictures"].as_array().unwrap().len();
        kit::wait_until(TIMEOUT, &format!("the pictures of {slug}"), async || {
            let images = get(format!("/v1/project/{slug}")).await["images"].take();
            images.as_array().is_some_and(|images| images.len() == pictures)
        })
        .await;
        kit::wait_until(TIMEOUT, &format!("the neighbours of {slug}"), async || {
            get(format!("/v1/similar/{slug}?limit=6")).await["count"] == 6
        })
        .await;
    }
}
