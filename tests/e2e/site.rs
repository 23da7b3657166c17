//! The site's forms, as a browser sends them: a key, a mailed link, the claim, the usage.

use kit::http::Answer;
use kit::smtp::Smtp;

use crate::started::{PATIENCE, Started};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const SITE: &str = "https://catalog.example.org";

async fn post(started: &Started, path: &str, body: &str, more: &[(&str, &str)]) -> Answer {
    let headers: Vec<(&str, &str)> = [FORM].into_iter().chain(more.iter().copied()).collect();
    started.http.send("POST", path, &headers, body.to_owned()).await
}

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.to_vec()).unwrap()
}

/// The key that a page shows.
fn shown_key(page: &str) -> String {
    let (_, rest) = page.split_once("<code id=\"key\">").unwrap_or_else(|| panic!("{page}"));
    rest.split_once("</code>").unwrap().0.to_owned()
}

async fn get_key(started: &Started, email: &str) -> (String, String) {
    let answer = post(started, "/keys", &format!("email={email}"), &[]).await;
    assert_eq!(answer.status, 200, "{}", text(&answer));
    assert_eq!(answer.headers["cache-control"], "no-store");
    let page = text(&answer);
    let key = shown_key(&page);
    (page.replace(&key, "KEY"), key)
}

#[tokio::test]
async fn the_form_hands_out_three_keys_an_address_and_tells_no_address_from_another() {
    let Some(started) = Started::with(&["--no-demo", "--auth", "keys"]).await else { return };
    let (first, key) = get_key(&started, "ada@example.org").await;
    let (known, _) = get_key(&started, "ada@example.org").await;
    let (unknown, _) = get_key(&started, "grace@example.org").await;
    assert_eq!((&known, &unknown), (&first, &first));
    get_key(&started, "ada@example.org").await;
    let full = text(&post(&started, "/keys", "email=ada%40example.org", &[]).await);
    assert!(
        full.contains("No key was made: there are 3 keys under this address, and more are not possible"),
        "{full}"
    );
    let broken = text(&post(&started, "/keys", "email=%3Cb%3Eada", &[]).await);
    assert!(
        broken.contains("The address cannot be used: it has no @; write it as name@example.org."),
        "{broken}"
    );
    assert!(broken.contains("value=\"&#60;b&#62;ada\""), "{broken}");
    let foreign = post(&started, "/keys", "email=eve@example.org", &[("sec-fetch-site", "cross-site")]).await;
    assert_eq!(foreign.status, 403);

    let bearer = format!("Bearer {key}");
    let answer = started.http.send("GET", "/v1/search?q=a", &[("authorization", &bearer)], "").await;
    assert_eq!(answer.status, 200);
    let usage = text(&post(&started, "/usage", &format!("key={key}"), &[]).await);
    assert!(
        usage.contains("<dd id=\"used\">1</dd>") && usage.contains("<dd id=\"remaining\">199</dd>"),
        "{usage}"
    );
    assert!(usage.contains("<rect class=\"rest\"") && !usage.contains(&key), "{usage}");
    let wrong = text(&post(&started, "/usage", "key=log_live_nothing", &[]).await);
    assert!(wrong.contains("This key cannot be used."), "{wrong}");
}

#[tokio::test]
async fn a_key_form_of_one_network_is_limited() {
    let Some(started) = Started::with(&["--no-demo", "--auth", "keys", "--keys-per-address", "2"]).await
    else {
        return;
    };
    get_key(&started, "ada@example.org").await;
    let asked = post(&started, "/keys/link", "email=nobody@example.org", &[]).await;
    assert_eq!(asked.status, 200);
    let answer = post(&started, "/keys", "email=grace@example.org", &[]).await;
    assert_eq!((answer.status, answer.headers.contains_key("retry-after")), (429, true));
}

#[tokio::test]
async fn a_mailed_link_acts_once_and_by_its_form_alone() {
    let server = Smtp::start(&[]).await;
    let url = server.url();
    let settings = [
        "--no-demo",
        "--auth",
        "keys",
        "--public-url",
        SITE,
        "--mail",
        &url,
        "--mail-from",
        "mail@example.org",
    ];
    let Some(started) = Started::with(&settings).await else { return };
    let (_, mine) = get_key(&started, "ada@example.org").await;
    let (_, other) = get_key(&started, "ada@example.org").await;
    // Whatever name the request goes by, the mail names the site's own address.
    let evil = [("host", "evil.example"), ("x-forwarded-host", "evil.example")];
    let known = text(&post(&started, "/keys/link", "email=ada@example.org", &evil).await);
    let unknown = text(&post(&started, "/keys/link", "email=grace@example.org", &[]).await);
    assert_eq!(known, unknown);
    let mail = server.mail(0).await;
    assert!(!mail.text().contains("evil"), "{}", mail.text());
    let path = mail.link().strip_prefix(SITE).unwrap().to_owned();

    // A scanner looks, and looks again.
    for method in ["GET", "HEAD", "GET"] {
        let looked = started.http.send(method, &path, &[], "").await;
        assert_eq!((looked.status, looked.headers["cache-control"].to_str().unwrap()), (200, "no-store"));
    }
    let page = text(&started.http.get(&path).await);
    assert!(page.contains(&mine[9..17]) && page.contains(&other[9..17]), "{page}");
    let foreign = post(&started, &path, "", &[("origin", "https://evil.example")]).await;
    assert_eq!(foreign.status, 403);
    let done = text(&post(&started, &path, &format!("revoke={}&new=yes", &other[9..17]), &[]).await);
    let new = shown_key(&done);
    assert!(done.contains(&format!("Ended: <code>{}</code>", &other[51..])), "{done}");
    let again = text(&post(&started, &path, &format!("revoke={}", &mine[9..17]), &[]).await);
    assert!(again.contains("This link is of no use any more"), "{again}");
    for (key, status) in [(&mine, 200), (&other, 401), (&new, 200)] {
        kit::wait_until(PATIENCE, "the keys on the node", async || {
            let bearer = format!("Bearer {key}");
            started.http.send("GET", "/v1/search?q=a", &[("authorization", &bearer)], "").await.status
                == status
        })
        .await;
    }
}

#[tokio::test]
async fn the_demo_catalog_has_texts_of_its_own_where_none_are_set() {
    let Some(started) = Started::with(&["--demo", "--site-tagline", "Only to try"]).await else { return };
    assert_eq!(started.http.get("/server.json").await.json()["title"], "Loggia demo");
    let page = text(&started.http.get("/status").await);
    assert!(page.contains(" · Loggia demo</title>") && page.contains("<span>Only to try</span>"), "{page}");
    drop(started);
    let Some(own) = Started::with(&["--no-demo", "--site-name", "Casa & Co"]).await else { return };
    assert_eq!(own.http.get("/server.json").await.json()["title"], "Casa & Co");
}
