use event_log::EventLog;
use kit::smtp::{Fault, Smtp};
use schemas::account::KeyIssued;
use schemas::command::{Command, CommandMessage, CommandReply};
use schemas::email::Email;
use schemas::key::KeyHash;
use schemas::link::LinkHash;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tempfile::TempDir;
use vault::MessageKind;
use write::service::{CommandDispatcher, ProjectService};

use super::*;

struct Fixture {
    _folder: TempDir,
    commands: CommandDispatcher,
    clock: Clock,
    server: Smtp,
    worker: MailWorker,
}

/// A write side with an API key and a mail worker; the mail server fails in these ways first.
async fn fixture(faults: &[Fault]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::manual("2026-11-20T08:30:00Z".parse().unwrap());
    let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
    let vault = Vault::open(folder.path(), None).await.unwrap();
    let tiers = "free=200".parse().unwrap();
    let accounts = Arc::new(AccountService::new(store.clone(), clock.clone(), vault, tiers));
    let projects = Arc::new(ProjectService::new(store, clock.clone()));
    let commands = CommandDispatcher::new(projects).register(accounts.clone());
    let server = Smtp::start(faults).await;
    let sender = "mail@example.org".parse().unwrap();
    let mailer = Mailer::new(&server.url().parse().unwrap(), Some(&sender)).unwrap();
    let site = "https://catalog.example.org".to_owned();
    let worker = MailWorker::new(accounts, clock.clone(), mailer, site);
    let fixture = Fixture { _folder: folder, commands, clock, server, worker };
    fixture.issue(email(), "a").await;
    fixture
}

fn email() -> Email {
    "ada@example.org".parse().unwrap()
}

impl Fixture {
    async fn send(&self, command: Command) -> CommandReply {
        let id = self.clock.command_id();
        let message = CommandMessage::new(id, "Ada".parse().unwrap(), command);
        self.commands.execute(message).await
    }

    /// Issues the key whose id is this letter eight times.
    async fn issue(&self, email: Email, letter: &str) {
        let (key_id, hash) = (letter.repeat(8).parse().unwrap(), KeyHash::of(letter.as_bytes()));
        let (hint, tier) = ("0a9Z".into(), "free".parse().unwrap());
        let key = KeyIssued { key_id, hash, hint, name: None, sealed_name: None, tier };
        self.send(Command::IssueKey { email, key }).await;
    }

    async fn request_link(&self) {
        assert_eq!(self.send(Command::SendLink { email: email() }).await, CommandReply::Accepted);
    }

    /// Opens the link of the mail with this index.
    async fn open_link(&self, number: usize) -> CommandReply {
        let mail = self.server.mail(number).await;
        let token = mail.link().strip_prefix("https://catalog.example.org/claim/").unwrap();
        self.send(Command::OpenLink { link: LinkHash::of(token) }).await
    }

    /// Advances the clock, sends due messages, and returns the seconds until the next is due.
    async fn after(&self, seconds: i64) -> Option<i64> {
        self.clock.advance(SignedDuration::from_secs(seconds));
        let next = self.worker.send_due(&CancellationToken::new()).await.unwrap();
        next.map(|next| next.duration_since(self.clock.now()).as_secs())
    }
}

#[tokio::test]
async fn a_mail_has_a_link_created_when_it_is_sent() {
    let fixture = fixture(&[]).await;
    fixture.request_link().await;
    assert_eq!(fixture.after(25 * 60).await, None);
    let CommandReply::LinkDetails(claim) = fixture.open_link(0).await else { panic!() };
    assert_eq!(claim.expires_at, fixture.clock.now() + SignedDuration::from_mins(30));
    assert_eq!(fixture.server.mails()[0].to, ["ada@example.org"]);
    fixture.request_link().await;
    assert_eq!(fixture.after(60).await, None);
    assert_eq!(fixture.server.mails().len(), 1, "at most one in ten minutes");
}

#[tokio::test]
async fn a_failed_mail_is_retried_with_doubling_backoff() {
    let fixture = fixture(&[Fault::Temporary, Fault::Disconnect, Fault::Temporary]).await;
    fixture.request_link().await;
    assert_eq!(fixture.after(0).await, Some(30));
    assert_eq!(fixture.after(29).await, Some(1));
    assert_eq!(fixture.server.sessions(), 1);
    assert_eq!(fixture.after(1).await, Some(60));
    assert_eq!(fixture.after(60).await, Some(120));
    assert_eq!(fixture.after(120).await, None);
    assert_eq!((fixture.server.sessions(), fixture.server.mails().len()), (4, 1));
    assert!(matches!(fixture.open_link(0).await, CommandReply::LinkDetails(_)));
    assert_eq!(backoff_after(6), SignedDuration::from_secs(1_920));
    assert_eq!([7, 40, u32::MAX].map(backoff_after), [MAX_BACKOFF; 3]);
}

#[tokio::test]
async fn a_mail_is_given_up_after_a_day() {
    let fixture = fixture(&[Fault::Temporary; 100]).await;
    fixture.request_link().await;
    let (mut passed, mut wait) = (0, fixture.after(0).await);
    while let Some(seconds) = wait {
        passed += seconds;
        wait = fixture.after(seconds).await;
    }
    assert_eq!(passed / 3_600, 24);
    assert_eq!((fixture.server.sessions(), fixture.server.mails().len()), (30, 0));
    fixture.request_link().await;
    assert!(fixture.after(0).await.is_some(), "another may be requested");
}

#[tokio::test]
async fn a_mail_refused_permanently_is_not_retried() {
    let fixture = fixture(&[Fault::Permanent]).await;
    fixture.request_link().await;
    assert_eq!(fixture.after(0).await, None);
    assert_eq!(fixture.after(24 * 60 * 60).await, None);
    assert_eq!((fixture.server.sessions(), fixture.server.mails().len()), (1, 0));
    assert!(!MailError::Refused("451".into()).is_permanent() && MailError::InvalidAddress.is_permanent());
}

#[tokio::test]
async fn a_damaged_row_delays_no_other_mail() {
    for (damaged, statement) in [
        ("an address", "UPDATE addresses SET sealed = x'00'"),
        ("a message", "UPDATE letters SET attempts = attempts, account = 'x'"),
    ] {
        let fixture = fixture(&[]).await;
        fixture.request_link().await;
        let file = SqliteConnectOptions::new().filename(fixture._folder.path().join("vault.db"));
        let mut vault = file.connect().await.unwrap();
        sqlx::raw_sql(statement).execute(&mut vault).await.unwrap();
        vault.close().await.unwrap();
        let bob: Email = "bob@example.org".parse().unwrap();
        fixture.issue(bob.clone(), "b").await;
        fixture.clock.advance(SignedDuration::from_secs(1));
        fixture.send(Command::SendLink { email: bob }).await;
        let next = fixture.after(0).await.unwrap();
        assert!((30..=3_600).contains(&next), "{damaged} is retried after {next} s");
        assert_eq!(fixture.server.mail(0).await.to, ["bob@example.org"], "{damaged}");
    }
}

#[tokio::test]
async fn an_erased_address_gets_no_mail() {
    let fixture = fixture(&[Fault::Temporary]).await;
    fixture.request_link().await;
    assert_eq!(fixture.after(0).await, Some(30));
    fixture.send(Command::EraseAccount { email: email() }).await;
    assert_eq!(fixture.after(30).await, None);
    assert_eq!(fixture.server.sessions(), 1);
}

#[tokio::test]
async fn two_mails_to_one_account_are_sent_ten_minutes_apart() {
    let fixture = fixture(&[]).await;
    fixture.request_link().await;
    let vault = fixture.worker.vault();
    let account = vault.account_of(&email()).await.unwrap().unwrap();
    vault.queue_message(account, MessageKind::Payment, fixture.clock.now()).await.unwrap();
    assert_eq!(fixture.after(0).await, Some(600));
    assert_eq!(fixture.after(600).await, None);
    let subjects = fixture.server.mails();
    assert!(subjects.iter().all(|mail| mail.data.contains("Subject: Your ")), "{subjects:?}");
    assert_eq!(subjects.len(), 2);
}

#[tokio::test]
async fn it_runs_until_it_is_stopped() {
    let fixture = fixture(&[]).await;
    let stop = CancellationToken::new();
    let accounts = fixture.worker.accounts.clone();
    let Fixture { commands, clock, server, worker, _folder } = fixture;
    let running = worker.run(stop.clone());
    let requesting = async {
        let id = clock.command_id();
        let command = Command::SendLink { email: email() };
        let message = CommandMessage::new(id, "Ada".parse().unwrap(), command);
        tokio::time::sleep(Duration::from_millis(50)).await;
        commands.execute(message).await;
        server.mail(0).await;
        stop.cancel();
    };
    tokio::join!(running, requesting);
    assert_eq!(server.mails().len(), 1);
    assert_eq!(
        accounts.vault().next_message_due().await.unwrap(),
        None,
        "an accepted mail is not sent twice"
    );
}
