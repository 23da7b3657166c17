//! Links that prove an email address: mailed over a real socket, printed, logged, and used.

use kit::any_file_contains;
use kit::process::{self, Loggia};
use kit::smtp::{Fault, Smtp};
use schemas::command::{Command, CommandFailure, CommandMessage, CommandReply, LinkDetails};
use schemas::ids::CommandId;
use schemas::key::KeyId;
use schemas::link::LinkHash;
use serde_json::json;
use uuid::Uuid;
use write::command_client::CommandClient;

use crate::service::{LOGGIA, Service, TIMEOUT, json as run_json, writes};

const ADA: &str = "Ada.Pelt@example.org";
const SITE: &str = "https://catalog.example.org";
const NO_ADDRESS: &str = "loggia: no link was made, since the address of the service is not known: set public_url \
    (LOGGIA_PUBLIC_URL) for the service, or name the address here with --public-url";

/// A command client, like that of the API's pages.
struct LinkClient(CommandClient);

impl LinkClient {
    async fn of(service: &Service) -> LinkClient {
        LinkClient(CommandClient::new(service.nats_client().await))
    }

    async fn send(&self, command: Command) -> CommandReply {
        let id = CommandId(Uuid::now_v7());
        let message = CommandMessage::new(id, "claim link".parse().unwrap(), command);
        self.0.send(&message).await.unwrap()
    }

    async fn request_link(&self, email: &str) {
        assert_eq!(
            self.send(Command::SendLink { email: email.parse().unwrap() }).await,
            CommandReply::Accepted
        );
    }

    async fn open(&self, link: &str) -> LinkDetails {
        match self.send(Command::OpenLink { link: hash(link) }).await {
            CommandReply::LinkDetails(claim) => claim,
            other => panic!("{other:?}"),
        }
    }

    async fn use_link(&self, link: &str, keep: &[KeyId], revoke: &[KeyId]) -> CommandReply {
        let (keep, revoke) = (keep.to_vec(), revoke.to_vec());
        self.send(Command::UseLink { link: hash(link), keep, revoke, new_key: None }).await
    }
}

fn token(link: &str) -> &str {
    link.rsplit('/').next().unwrap()
}

fn hash(link: &str) -> LinkHash {
    LinkHash::of(token(link))
}

fn issue(service: &Service, email: &str) -> KeyId {
    let issued = service.json(&["keys", "issue", "--email", email]).pop().unwrap();
    issued["key_id"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_mailed_link_proves_an_address_once() {
    let server = Smtp::start(&[]).await;
    let (url, from) = (server.url(), "Catalog <mail@example.org>");
    let settings = ["--no-demo", "--mail", &url, "--mail-from", from, "--public-url", SITE];
    let Some(service) = Service::with(&settings).await else { return };
    let (kept, unwanted) = (issue(&service, ADA), issue(&service, ADA));
    let client = LinkClient::of(&service).await;
    client.request_link("nobody@example.org").await;
    client.request_link("ada.pelt@example.org").await;
    let mail = server.mail(0).await;
    assert_eq!(mail.to, [ADA]);
    let link = mail.link().to_owned();
    assert_eq!(link, format!("{SITE}/claim/{}", token(&link)));
    assert!(!any_file_contains(service.folder.path(), token(&link)), "only its hash is kept");

    for _ in 0..2 {
        let claim = client.open(&link).await;
        let ids: Vec<KeyId> = claim.keys.iter().map(|key| key.key_id).collect();
        assert_eq!((ids, claim.places), (vec![kept, unwanted], 1));
    }
    let CommandReply::Account(done) = client.use_link(&link, &[kept], &[unwanted]).await else { panic!() };
    let key_states: Vec<_> = done.keys.iter().map(|key| (key.key_id, key.proven, key.revoked)).collect();
    assert_eq!(key_states, [(kept, true, false), (unwanted, false, true)]);
    let CommandReply::Failed(CommandFailure { detail, .. }) = client.use_link(&link, &[], &[kept]).await
    else {
        panic!()
    };
    assert!(detail.starts_with("this link cannot be used any more"), "{detail}");
    let listed = service.json(&["keys", "list"]);
    assert_eq!((&listed[0]["proven"], &listed[0]["revoked_at"]), (&json!(true), &json!(null)));

    client.request_link(ADA).await;
    // Mails are sent one after the other, so a second one to her would come before.
    issue(&service, "grace@example.org");
    client.request_link("grace@example.org").await;
    assert_eq!(
        server.mail(1).await.to,
        ["grace@example.org"],
        "one mail in ten minutes, and none to strangers"
    );
    let log = service.loggia.stderr() + &service.loggia.stdout();
    assert!(!log.contains(token(&link)) && !log.to_lowercase().contains("ada.pelt@"), "{log}");
}

#[tokio::test]
async fn an_unreachable_mail_server_blocks_no_command() {
    let server = Smtp::start(&[Fault::Temporary; 10]).await;
    let (url, from) = (server.url(), "mail@example.org");
    let settings = ["--no-demo", "--mail", &url, "--mail-from", from, "--public-url", SITE];
    let Some(mut service) = Service::with(&settings).await else { return };
    issue(&service, ADA);
    let client = LinkClient::of(&service).await;
    client.request_link(ADA).await;
    kit::wait_until(TIMEOUT, "an attempt", async || server.sessions() > 0).await;
    issue(&service, ADA);
    kit::wait_until(TIMEOUT, "a line in the log", async || {
        service.loggia.stderr().contains("a mail could not be sent")
    })
    .await;
    let log = service.loggia.stderr();
    assert!(log.contains("the mail server refuses it with the code 451"), "{log}");
    assert!(!log.to_lowercase().contains("ada.pelt@"), "{log}");
    assert!(service.loggia.terminate().await.success());
}

#[tokio::test]
async fn the_mail_servers_certificate_is_verified_before_the_password_is_sent() {
    let (server, authority) = Smtp::start_tls().await;
    let url = format!("smtps://me:secret@localhost:{}", server.port());
    let settings = ["--no-demo", "--mail", &url, "--mail-from", "mail@example.org", "--public-url", SITE];
    let Some(service) = Service::with(&settings).await else { return };
    issue(&service, ADA);
    LinkClient::of(&service).await.request_link(ADA).await;
    kit::wait_until(TIMEOUT, "a line in the log", async || {
        service.loggia.stderr().contains("the mail server cannot be reached, or broke off")
    })
    .await;
    assert!(!service.loggia.stderr().contains("secret"), "{}", service.loggia.stderr());
    assert_eq!(server.sessions(), 0);

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, authority).unwrap();
    let mut command = process::command(&LOGGIA, folder.path());
    command.arg("up").args(settings).env("SSL_CERT_FILE", &file);
    let mut loggia = Loggia::spawn_command(command, folder.path());
    let http = loggia.http().await;
    let service = Service { loggia, folder, http };
    issue(&service, ADA);
    LinkClient::of(&service).await.request_link(ADA).await;
    let mail = server.mail(0).await;
    assert_eq!((mail.to, mail.credentials.as_deref()), (vec![ADA.to_owned()], Some("AG1lAHNlY3JldA==")));
}

#[tokio::test]
async fn without_a_mail_server_the_log_names_only_keys() {
    let Some(service) = Service::empty().await else { return };
    let key = issue(&service, ADA);
    LinkClient::of(&service).await.request_link(ADA).await;
    let log = kit::wait_for(TIMEOUT, "a line in the log", async || {
        let log = service.loggia.stderr() + &service.loggia.stdout();
        log.contains("a link was asked for").then_some(log)
    })
    .await;
    assert!(log.contains(&key.to_string()), "{log}");
    assert!(!log.contains("/claim/") && !log.to_lowercase().contains("ada.pelt@"), "{log}");
}

#[tokio::test]
async fn links_are_printed_on_request() {
    let Some(service) = Service::with(&["--no-demo", "--mail", "print:"]).await else { return };
    let key = issue(&service, ADA);
    let client = LinkClient::of(&service).await;
    client.request_link(ADA).await;
    let start = format!("{}/claim/", service.base());
    let logged = kit::wait_for(TIMEOUT, "a link in the log", async || {
        let log = service.loggia.stderr() + &service.loggia.stdout();
        let at = log.find(&start)?;
        log[at..].lines().next().map(str::to_owned)
    });
    assert_eq!(client.open(&logged.await).await.keys[0].key_id, key);

    let printed = service.json(&["keys", "link", "--email", ADA]).pop().unwrap();
    let link = printed["link"].as_str().unwrap();
    assert!(link.starts_with(&start), "{link}");
    let claim = client.open(link).await;
    assert_eq!(printed, json!({"link": link, "expires_at": claim.expires_at}));
    let CommandReply::Account(done) = client.use_link(link, &[key], &[]).await else { panic!() };
    assert!(done.changed && done.keys[0].proven);
}

#[test]
fn a_link_is_printed_without_a_service_too() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| process::run(&LOGGIA, folder.path(), args);
    let nowhere = run(&["keys", "link", "--email", ADA]);
    assert_eq!((nowhere.status.code(), &*nowhere.stdout, nowhere.stderr.trim()), (Some(1), "", NO_ADDRESS));
    let unknown = run(&["keys", "link", "--email", ADA, "--public-url", SITE]).ended(1);
    assert_eq!(
        unknown.stderr.trim(),
        "there is no key under this address that is not revoked; issue one first"
    );
    run_json(folder.path(), &["keys", "issue", "--email", ADA]);
    let printed = run(&["keys", "link", "--email", ADA, "--public-url", &format!("{SITE}/")]).success();
    assert_eq!(printed.stderr, "");
    let text = printed.stdout;
    let (link, rest) = text.split_once('\n').unwrap();
    assert_eq!(link, format!("{SITE}/claim/{}", token(link)));
    assert_eq!(token(link).len(), 32);
    let (rest, end) = rest.split_once("until ").unwrap();
    assert_eq!(rest, "\nGive it only to the holder of the address. It works once, ");
    assert!(end.trim().trim_end_matches('.').parse::<jiff::Timestamp>().is_ok(), "{end}");
    assert!(!any_file_contains(folder.path(), token(link)));
}

#[tokio::test]
async fn keys_and_links_use_the_settings_of_the_service_not_of_the_shell() {
    let settings = ["--no-demo", "--tiers", "free=200, gold=77000", "--public-url", SITE];
    let Some(service) = Service::with(&settings).await else { return };
    let issued = service.json(&["keys", "issue", "--email", ADA, "--tier", "gold"]).pop().unwrap();
    assert_eq!((&issued["tier"], &issued["quota"]), (&json!("gold"), &json!(77_000)));
    let refused = service.run(&["keys", "issue", "--email", ADA, "--tier", "studio"]).ended(1).stderr;
    assert_eq!(refused, "loggia: there is no tier “studio”; the tiers are free, gold\n");
    let moved = service.run(&["keys", "tier", "--email", ADA, "gold"]);
    let expected =
        format!("{} is already in tier gold: 77,000 calls per month", issued["key_id"].as_str().unwrap());
    assert_eq!(moved.stdout.trim(), expected);
    let link = service.json(&["keys", "link", "--email", ADA]).pop().unwrap()["link"].clone();
    assert!(link.as_str().unwrap().starts_with(&format!("{SITE}/claim/")), "{link}");
}

#[tokio::test]
async fn no_link_is_made_without_the_public_address_of_the_service() {
    let Some(nats) = kit::nats::Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = process::command(&LOGGIA, folder.path());
    command.args(["write", "--nats-url", &nats.url(), "--auth", "keys"]);
    let _writing = Loggia::spawn_command(command, folder.path());
    writes(folder.path()).await;
    run_json(folder.path(), &["keys", "issue", "--email", ADA]);
    let link = ["keys", "link", "--email", ADA, "--listen", "127.0.0.1:8080"];
    let nowhere = process::run(&LOGGIA, folder.path(), &link);
    assert_eq!((nowhere.status.code(), &*nowhere.stdout, nowhere.stderr.trim()), (Some(1), "", NO_ADDRESS));
    let made = run_json(folder.path(), &[&link[..], &["--public-url", SITE]].concat()).pop().unwrap();
    assert!(made["link"].as_str().unwrap().starts_with(&format!("{SITE}/claim/")), "{made}");
}
