//! The forms of the site, as a browser sends them: key, mailed link, claim, usage.

use kit::http::Answer;
use kit::process::Loggia;
use kit::smtp::Smtp;

use crate::service::{LOGGIA, Service, TIMEOUT};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const SITE: &str = "https://catalog.example.org";

async fn post(service: &Service, path: &str, body: &str, more: &[(&str, &str)]) -> Answer {
    let headers: Vec<(&str, &str)> = [FORM].into_iter().chain(more.iter().copied()).collect();
    service.http.send("POST", path, &headers, body.to_owned()).await
}

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.to_vec()).unwrap()
}

fn shown_key(page: &str) -> String {
    let (_, rest) = page.split_once("<code id=\"key\">").unwrap_or_else(|| panic!("{page}"));
    rest.split_once("</code>").unwrap().0.to_owned()
}

async fn get_key(service: &Service, email: &str) -> (String, String) {
    let answer = post(service, "/keys", &format!("email={email}"), &[]).await;
    assert_eq!(answer.status, 200, "{}", text(&answer));
    assert_eq!(answer.headers["cache-control"], "no-store");
    let page = text(&answer);
    let key = shown_key(&page);
    (page.replace(&key, "KEY"), key)
}

fn form_of(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"form\" value=\"").unwrap_or_else(|| panic!("{page}"));
    format!("form={}", rest.split_once('"').unwrap().0)
}

#[tokio::test]
async fn a_form_sent_twice_issues_one_key() {
    let settings = ["--no-demo", "--auth", "keys", "--keys-per-address", "20"];
    let Some(service) = Service::with(&settings).await else { return };
    let page = text(&service.http.get("/keys").await);
    let form = form_of(&page);
    assert_ne!(form_of(&text(&service.http.get("/keys").await)), form, "each copy has its own");
    let body = format!("{form}&email=ada@example.org");
    let first = post(&service, "/keys", &body, &[]).await;
    assert_eq!(first.status, 200, "{}", text(&first));
    shown_key(&text(&first));
    for _ in 0..3 {
        let again = post(&service, "/keys", &body, &[]).await;
        assert_eq!(again.status, 409);
        let again = text(&again);
        assert!(again.contains("This form was already sent") && !again.contains("id=\"key\""), "{again}");
    }
    let json = post(&service, "/keys", &body, &[("accept", "application/json")]).await;
    assert_eq!((json.status, json.header("content-type")), (409, Some("application/problem+json")));
    assert!(json.json()["type"].as_str().unwrap().ends_with("/problems/refused"), "{}", json.json());
    // Going back and changing the address is a new request.
    let other = post(&service, "/keys", &format!("{form}&email=grace@example.org"), &[]).await;
    assert_eq!(other.status, 200);
    let keys = service.json(&["keys", "list"]);
    assert_eq!(keys.iter().filter(|line| line.get("key_id").is_some()).count(), 2, "{keys:?}");
}

#[tokio::test]
async fn a_key_has_the_name_that_its_form_gave() {
    let Some(service) = Service::with(&["--no-demo", "--auth", "keys"]).await else { return };
    let answer = post(&service, "/keys", "email=ada@example.org&name=+Laptop+%26+phone+", &[]).await;
    assert_eq!(answer.status, 200, "{}", text(&answer));
    let usage = post(&service, "/usage", &format!("key={}", shown_key(&text(&answer))), &[]).await;
    let lead = "<p class=\"lead\">Laptop &#38; phone, the key that ends in";
    assert!(text(&usage).contains(lead), "{}", text(&usage));
    let long = format!("email=grace@example.org&name={}", "n".repeat(101));
    let refused = post(&service, "/keys", &long, &[]).await;
    let page = text(&refused);
    assert_eq!(refused.status, 409, "{page}");
    assert!(
        page.contains("role=\"alert\">The key&#39;s name ")
            && page.contains(&format!("value=\"{}\"", "n".repeat(101))),
        "{page}"
    );
}

#[tokio::test]
async fn a_tier_that_is_not_sold_online_names_whom_to_ask() {
    let settings = [
        "--no-demo",
        "--auth",
        "keys",
        "--contact",
        "casa@example.org",
        "--terms-url",
        "https://example.org/terms",
    ];
    let Some(service) = Service::with(&settings).await else { return };
    let page = text(&service.http.get("/pricing").await);
    let ask = "To get it, ask <a href=\"mailto:casa@example.org\">casa@example.org</a>.";
    assert_eq!(page.matches(ask).count(), 2, "{page}");
    assert!(page.contains("<p class=\"price\">Free</p>") && !page.contains("0 EUR"), "{page}");
    let foot =
        "<a href=\"mailto:casa@example.org\">Contact</a>\n<a href=\"https://example.org/terms\">Terms</a>";
    assert!(page.contains(foot), "{page}");
}

#[tokio::test]
async fn each_form_shows_its_own_error() {
    let settings = ["--no-demo", "--auth", "keys", "--mail", "print:"];
    let Some(service) = Service::with(&settings).await else { return };
    let link = post(&service, "/keys/link", "email=nonsense", &[]).await;
    assert_eq!(link.status, 422);
    let link = text(&link);
    let (before, behind) = link.split_once("id=\"link\"").unwrap();
    assert!(!before.contains("nonsense") && !before.contains("role=\"alert\""), "{link}");
    assert!(behind.contains("value=\"nonsense\"") && behind.contains("id=\"link-fault\""), "{link}");
    assert!(link.contains("<title>Error: Get a key"), "{link}");
    for (path, headers, status, kind) in [
        ("/keys", [("accept", "application/json"), FORM], 422, "invalid-parameters"),
        ("/keys/link", [("accept", "application/json"), FORM], 422, "invalid-parameters"),
        (
            "/keys",
            [("accept", "application/json"), ("content-type", "application/json")],
            415,
            "malformed-request",
        ),
    ] {
        let answer = service.http.send("POST", path, &headers, "email=nonsense").await;
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.json()["type"].as_str().unwrap().ends_with(kind), "{}", answer.json());
    }
    for path in ["/claim/nothing", "/claim/Ab3dEf9hAb3dEf9hAb3dEf9hAb3dEf9h"] {
        for method in ["GET", "POST"] {
            let dead = service.http.send(method, path, &[FORM], "").await;
            assert_eq!(dead.status, 410, "{method} {path}");
            assert!(text(&dead).contains("This link has expired"), "{}", text(&dead));
            let dead = service.http.send(method, path, &[FORM, ("accept", "application/json")], "").await;
            assert_eq!((dead.status, dead.header("content-type")), (410, Some("application/problem+json")));
        }
    }
}

#[tokio::test]
async fn without_a_mail_server_no_mail_is_announced_and_no_address_logged() {
    let settings = ["--no-demo", "--auth", "keys", "--contact", "keys@catalog.example.org"];
    let Some(service) = Service::with(&settings).await else { return };
    get_key(&service, "first@example.org").await;
    let page = text(&service.http.get("/keys").await);
    assert!(!page.contains("/keys/link") && !page.contains("We mail"), "{page}");
    assert!(
        page.contains("<a href=\"mailto:keys@catalog.example.org\">keys@catalog.example.org</a>"),
        "{page}"
    );
    let response = post(&service, "/keys/link", "email=first@example.org", &[]).await;
    assert_eq!(response.status, 409);
    assert!(text(&response).contains("This site sends no mail"), "{}", text(&response));
    let log = service.loggia.stderr() + &service.loggia.stdout();
    assert!(!log.contains("first@example.org") && !log.contains("/claim/"), "{log}");
}

#[tokio::test]
async fn links_are_limited_by_address() {
    let settings = ["--no-demo", "--auth", "keys", "--burst-per-address", "3"];
    let Some(service) = Service::with(&settings).await else { return };
    for path in ["/claim/Ab3dEf9hAb3dEf9hAb3dEf9hAb3dEf9h", "/claim/nothing", "/keys", "/openapi.json"] {
        let answers = futures::future::join_all((0..30).map(|_| service.http.get(path))).await;
        assert!(answers.iter().any(|answer| answer.status == 429), "{path}");
    }
}

#[tokio::test]
async fn the_form_issues_three_keys_per_address_without_revealing_known_addresses() {
    let settings = [
        "--no-demo",
        "--auth",
        "keys",
        "--keys-per-address",
        "20",
        "--checkout",
        "pro=https://pay.example.org/pro, studio=https://pay.example.org/studio",
    ];
    let Some(service) = Service::with(&settings).await else { return };
    let (first, key) = get_key(&service, "ada@example.org").await;
    let (known, _) = get_key(&service, "ada@example.org").await;
    let (unknown, _) = get_key(&service, "grace@example.org").await;
    assert_eq!((&known, &unknown), (&first, &first));
    get_key(&service, "ada@example.org").await;
    let full = post(&service, "/keys", "email=ada%40example.org", &[]).await;
    assert_eq!(full.status, 409);
    let full = text(&full);
    assert!(
        full.contains(
            "This address already has 3 keys; if you revoke one now, you can create another from 1 "
        ),
        "{full}"
    );
    let broken = post(&service, "/keys", "email=%3Cb%3Eada", &[]).await;
    assert_eq!(broken.status, 422);
    let broken = text(&broken);
    assert!(broken.contains("<title>Error: Get a key"), "{broken}");
    assert!(
        broken.contains("role=\"alert\">Enter an email address, such as name@example.org.</p>"),
        "{broken}"
    );
    assert!(broken.contains("value=\"&#60;b&#62;ada\""), "{broken}");
    let foreign = post(&service, "/keys", "email=eve@example.org", &[("sec-fetch-site", "cross-site")]).await;
    assert_eq!(foreign.status, 403);

    let bearer = format!("Bearer {key}");
    // A search that finds nothing is not counted.
    for path in ["/v1/changes", "/v1/search?q=a"] {
        let answer = service.http.send("GET", path, &[("authorization", &bearer)], "").await;
        assert_eq!(answer.status, 200);
    }
    let usage = text(&post(&service, "/usage", &format!("key={key}"), &[]).await);
    assert!(
        usage.contains("<dd id=\"used\">1</dd>") && usage.contains("<dd id=\"remaining\">199</dd>"),
        "{usage}"
    );
    assert!(usage.contains("<rect class=\"rest\"") && !usage.contains(&key), "{usage}");
    let upgrade = "<a href=\"/pricing\">All tiers</a></p>\n\
                   <p><a class=\"button\" href=\"https://pay.example.org/studio\" rel=\"noreferrer\">Upgrade to Studio</a> \
                   <span class=\"soft\">5,000 calls a month</span></p>\n";
    assert!(usage.contains(upgrade), "{usage}");
    let wrong = text(&post(&service, "/usage", "key=log_live_nothing", &[]).await);
    assert!(wrong.contains("This key cannot be used."), "{wrong}");
}

#[tokio::test]
async fn key_requests_of_one_network_are_limited() {
    let Some(service) =
        Service::with(&["--no-demo", "--auth", "keys", "--keys-per-address", "2", "--mail", "print:"]).await
    else {
        return;
    };
    get_key(&service, "ada@example.org").await;
    let response = post(&service, "/keys/link", "email=nobody@example.org", &[]).await;
    assert_eq!(response.status, 200);
    let answer = post(&service, "/keys", "email=grace@example.org", &[]).await;
    assert_eq!((answer.status, answer.headers.contains_key("retry-after")), (429, true));
}

#[tokio::test]
async fn a_mailed_link_acts_once_and_only_through_its_form() {
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
    let Some(service) = Service::with(&settings).await else { return };
    let (_, mine) = get_key(&service, "ada@example.org").await;
    let (_, other) = get_key(&service, "ada@example.org").await;
    // Whatever the Host header, the mail has the site's configured address.
    let evil = [("host", "evil.example"), ("x-forwarded-host", "evil.example")];
    let known = text(&post(&service, "/keys/link", "email=ada@example.org", &evil).await);
    let unknown = text(&post(&service, "/keys/link", "email=grace@example.org", &[]).await);
    assert_eq!(known, unknown);
    let mail = server.mail(0).await;
    assert!(!mail.text().contains("evil"), "{}", mail.text());
    let path = mail.link().strip_prefix(SITE).unwrap().to_owned();

    // A mail scanner opens the link twice.
    for method in ["GET", "HEAD", "GET"] {
        let looked = service.http.send(method, &path, &[], "").await;
        assert_eq!((looked.status, looked.headers["cache-control"].to_str().unwrap()), (200, "no-store"));
    }
    let page = text(&service.http.get(&path).await);
    assert!(page.contains(&mine[9..17]) && page.contains(&other[9..17]), "{page}");
    assert!(page.contains("Keys you confirm are upgraded when you pay."), "{page}");
    // Nothing is proven by default, and a form without a choice does not use the link.
    let nothing = post(&service, &path, "", &[]).await;
    assert_eq!(nothing.status, 422);
    assert!(text(&nothing).contains("Nothing was ticked, so nothing was done."), "{}", text(&nothing));
    // Another person requests a key for the address between opening the link and the decision.
    let (_, stranger) = get_key(&service, "ada@example.org").await;
    let foreign = post(&service, &path, "", &[("origin", "https://evil.example")]).await;
    assert_eq!(foreign.status, 403);
    let ticked = format!("keep={}&revoke={}&new=yes", &mine[9..17], &other[9..17]);
    let done = text(&post(&service, &path, &ticked, &[]).await);
    let new = shown_key(&done);
    let proven: Vec<String> = service
        .json(&["keys", "list"])
        .iter()
        .filter(|key| key["proven"] == true)
        .map(|key| key["key_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(proven, [&mine[9..17], &new[9..17]], "what was ticked, and what was made here");
    assert!(done.contains(&format!("Revoked: <code>{}</code>", &other[51..])), "{done}");
    let again = post(&service, &path, &format!("revoke={}", &mine[9..17]), &[]).await;
    assert_eq!(again.status, 410);
    let again = text(&again);
    assert!(again.contains("This link has expired"), "{again}");
    for (key, status) in [(&mine, 200), (&stranger, 200), (&other, 401), (&new, 200)] {
        kit::wait_until(TIMEOUT, "the keys on the node", async || {
            let bearer = format!("Bearer {key}");
            service.http.send("GET", "/v1/search?q=a", &[("authorization", &bearer)], "").await.status
                == status
        })
        .await;
    }
}

#[tokio::test]
async fn the_demo_catalog_has_default_texts() {
    let Some(service) = Service::with(&["--demo", "--site-tagline", "Only to try"]).await else { return };
    assert_eq!(service.http.get("/server.json").await.json()["title"], "Loggia demo");
    let page = text(&service.http.get("/status").await);
    assert!(page.contains(" · Loggia demo</title>") && page.contains("<span>Only to try</span>"), "{page}");
    drop(service);
    let Some(own) = Service::with(&["--no-demo", "--site-name", "Casa & Co"]).await else { return };
    assert_eq!(own.http.get("/server.json").await.json()["title"], "Casa & Co");
}

#[tokio::test]
async fn the_figures_of_the_days_outlive_the_process() {
    let Some(mut service) = Service::empty().await else { return };
    for _ in 0..3 {
        service.http.get("/pricing").await;
    }
    assert!(service.loggia.terminate().await.success(), "{}", service.loggia.stderr());
    service.loggia = Loggia::up(&LOGGIA, service.folder.path(), &["--no-demo"]).await;
    service.http = service.loggia.ready().await;
    service.http.get("/pricing").await;
    let page = text(&service.http.get("/status").await);
    assert!(page.contains("; no server errors in 4 answers. Days begin at midnight UTC."), "{page}");
}

#[tokio::test]
async fn a_mailed_link_deletes_the_address_and_ends_its_keys() {
    let server = Smtp::start(&[]).await;
    let url = server.url();
    let sender = "mail@example.org";
    let settings =
        ["--no-demo", "--auth", "keys", "--public-url", SITE, "--mail", &url, "--mail-from", sender];
    let Some(service) = Service::with(&settings).await else { return };
    let (_, key) = get_key(&service, "ada@example.org").await;
    let (_, other) = get_key(&service, "grace@example.org").await;
    post(&service, "/keys/link", "email=ada@example.org", &[]).await;
    let path = server.mail(0).await.link().strip_prefix(SITE).unwrap().to_owned();
    let page = text(&service.http.get(&path).await);
    assert!(page.contains("Delete my address and end all keys"), "{page}");
    let foreign = post(&service, &path, "erase=yes", &[("origin", "https://evil.example")]).await;
    assert_eq!(foreign.status, 403);
    let done = post(&service, &path, "erase=yes", &[]).await;
    assert_eq!(done.status, 200);
    assert!(text(&done).contains("Your address is deleted, and its keys no longer work."), "{}", text(&done));
    for (key, status) in [(&key, 401), (&other, 200)] {
        kit::wait_until(TIMEOUT, "the keys on the node", async || {
            let bearer = format!("Bearer {key}");
            let answer = service.http.send("GET", "/v1/search?q=a", &[("authorization", &bearer)], "").await;
            answer.status == status
        })
        .await;
    }
    assert_eq!(post(&service, &path, "erase=yes", &[]).await.status, 410);
    let list = format!("{:?}", service.json(&["keys", "list"]));
    assert!(!list.contains("ada@example.org") && list.contains("grace@example.org"), "{list}");
}
