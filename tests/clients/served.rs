//! The service for the clients: a dozen houses with pictures; more than a preview requires a key.

use std::process::Command;
use std::sync::Arc;

use image::{ImageFormat, Rgb, RgbImage};
use kit::http::Http;
use kit::process::{self, Loggia};
use kit::{ProgramOutput, Shared, TIMEOUT};
use serde_json::{Value, json};

pub(crate) use kit::process::LOGGIA;

/// `loggia up` on a temporary folder.
pub(crate) struct Served {
    _loggia: Loggia,
    _folder: tempfile::TempDir,
    /// The base URL of the site, without a slash at its end.
    pub(crate) base: String,
    pub(crate) key: String,
}

impl Served {
    /// Returns the service that concurrent tests share; `None` without a nats-server, with a message.
    pub(crate) async fn shared() -> Option<Arc<Self>> {
        static SHARED: Shared<Served> = Shared::new();
        SHARED.get(Self::start).await
    }

    /// Starts, imports, and waits until every house has its picture and its similar projects.
    async fn start() -> Option<Self> {
        let folder = kit::nats::data_folder().await?;
        // Without them a search by meaning is an error of the server.
        let weights = kit::weights()?;
        let settings = |mut command: Command| {
            command.env("LOGGIA_VECTORS", "auto").env("LOGGIA_WEIGHTS", &weights).env("LOGGIA_AUTH", "keys");
            // The suite and the clients all call from one address, faster than people do.
            command.env("LOGGIA_BURST_PER_ADDRESS", "0").env("LOGGIA_KEYS_PER_ADDRESS", "0");
            command.env("LOGGIA_BURST_PER_KEY", "0").env("LOGGIA_TIERS", "free=1000000");
            command
        };
        let mut up = settings(process::command(&LOGGIA, folder.path()));
        up.args(["up", "--no-demo"]);
        let mut loggia = Loggia::spawn_command(up, folder.path());
        let http = loggia.ready().await;

        let (file, houses) = (folder.path().join("houses.ndjson"), houses());
        std::fs::write(&file, houses.iter().map(|house| format!("{house}\n")).collect::<String>()).unwrap();
        for at in 0..houses.len() {
            picture(at).save_with_format(folder.path().join(format!("{at}.png")), ImageFormat::Png).unwrap();
        }
        let run = |args: &[&str]| {
            ProgramOutput::of(settings(process::command(&LOGGIA, folder.path())).args(args)).success().json()
        };
        run(&["import", file.to_str().unwrap(), "--json"]);
        let issued = run(&["keys", "issue", "--email", "waits@example.org", "--json"]);
        let key = issued["key"].as_str().unwrap().to_owned();
        complete(&http, &key, houses.len()).await;
        let base = loggia.base().await;
        Some(Self { _loggia: loggia, _folder: folder, base, key })
    }

    pub(crate) fn mcp_url(&self) -> String {
        format!("{}/mcp", self.base)
    }
}

fn houses() -> Vec<Value> {
    let house = |at: usize| {
        json!({
            "slug": format!("house-{at}"),
            "name": format!("House {at}"),
            "category": "architecture",
            "intro": "A house of oak beside a lake.",
            "published": format!("2024-01-{:02}", at + 1),
            "taste": {"material": "oak and brick", "mood": "calm"},
            "pictures": [{"source": format!("{at}.png"), "alt": "The house from the lake"}],
        })
    };
    (0..12).map(house).collect()
}

/// Returns a picture in colours that depend on the house.
fn picture(at: usize) -> RgbImage {
    let shade = u8::try_from(at * 20).unwrap();
    RgbImage::from_fn(640, 480, |x, y| match y > 200 && x > 100 {
        true => Rgb([shade, 90, 255 - shade]),
        false => Rgb([200, 220, shade]),
    })
}

/// Waits until each house is shown with a picture and all others as similar projects.
async fn complete(http: &Http, key: &str, houses: usize) {
    let bearer = format!("Bearer {key}");
    let get =
        async |path: String| http.send("GET", &path, &[("authorization", bearer.as_str())], "").await.json();
    for at in 0..houses {
        kit::wait_until(TIMEOUT, &format!("the picture of house {at}"), async || {
            get(format!("/v1/project/house-{at}")).await["thumbnail"].is_string()
        })
        .await;
        kit::wait_until(TIMEOUT, &format!("the neighbours of house {at}"), async || {
            get(format!("/v1/similar/house-{at}?limit=1")).await["count"] == 1
        })
        .await;
    }
}
