use event_log::EventLog;
use kit::smtp::{Fault, Smtp};
use schemas::account::KeyIssued;
use schemas::command::{Answer, Command, CommandMessage};
use schemas::email::Email;
use schemas::key::KeyHash;
use schemas::link::LinkHash;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tempfile::TempDir;
use vault::LetterKind;

use super::super::mailer::NotMailed;
use super::*;

struct Office {
    _folder: TempDir,
    service: CommandService,
    clock: Clock,
    server: Smtp,
    postman: MailWorker,
}

/// A write side with a key under an address, and a postman; the server fails first as it is told.
async fn office(faults: &[Fault]) -> Office {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::manual("2026-11-20T08:30:00Z".parse().unwrap());
    let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
    let accounts =
        Accounts::new(Vault::open(folder.path(), None).await.unwrap(), "free=200".parse().unwrap());
    let service = CommandService::new(store, clock.clone()).with_accounts(accounts);
    let server = Smtp::start(faults).await;
    let sender = "mail@example.org".parse().unwrap();
    let mailer = Mailer::new(&server.url().parse().unwrap(), Some(&sender)).unwrap();
    let site = "https://catalog.example.org".to_owned();
    let postman = MailWorker::new(&service, clock.clone(), mailer, site).unwrap();
    let office = Office { _folder: folder, service, clock, server, postman };
    let (hint, tier) = ("0a9Z".into(), "free".parse().unwrap());
    let key_id = "aaaaaaaa".parse().unwrap();
    let key = KeyIssued { key_id, hash: KeyHash::of(b"a"), hint, name: None, sealed_name: None, tier };
    office.send(Command::IssueKey { email: email(), key }).await;
    office
}

fn email() -> Email {
    "ada@example.org".parse().unwrap()
}

impl Office {
    async fn send(&self, command: Command) -> Answer {
        let id = self.clock.command_id();
        let message =
            CommandMessage { id, actor: "Ada".parse().unwrap(), correlation: id, command, not_after: None };
        self.service.handle(message).await
    }

    async fn ask(&self) {
        assert_eq!(self.send(Command::SendLink { email: email() }).await, Answer::Accepted);
    }

    /// What the link of the mail of this number is for.
    async fn opened(&self, number: usize) -> Answer {
        let mail = self.server.mail(number).await;
        let token = mail.link().strip_prefix("https://catalog.example.org/claim/").unwrap();
        self.send(Command::OpenLink { link: LinkHash::of(token) }).await
    }

    /// Lets time pass, then the postman work, and gives when the next letter is due, in seconds from then.
    async fn after(&self, seconds: i64) -> Option<i64> {
        self.clock.advance(SignedDuration::from_secs(seconds));
        let next = self.postman.round(&CancellationToken::new()).await.unwrap();
        next.map(|next| next.duration_since(self.clock.now()).as_secs())
    }
}

#[tokio::test]
async fn a_letter_is_mailed_with_a_fresh_link() {
    let office = office(&[]).await;
    office.ask().await;
    assert_eq!(office.after(25 * 60).await, None);
    let Answer::Claim(claim) = office.opened(0).await else { panic!() };
    assert_eq!(claim.expires_at, office.clock.now() + SignedDuration::from_mins(30));
    assert_eq!(office.server.mails()[0].to, ["ada@example.org"]);
    office.ask().await;
    assert_eq!(office.after(60).await, None);
    assert_eq!(office.server.mails().len(), 1, "one in ten minutes");
}

#[tokio::test]
async fn a_letter_that_fails_is_tried_again_and_again_later() {
    let office = office(&[Fault::Temporary, Fault::Disconnect, Fault::Temporary]).await;
    office.ask().await;
    assert_eq!(office.after(0).await, Some(30));
    assert_eq!(office.after(29).await, Some(1));
    assert_eq!(office.server.conversations(), 1);
    assert_eq!(office.after(1).await, Some(60));
    assert_eq!(office.after(60).await, Some(120));
    assert_eq!(office.after(120).await, None);
    assert_eq!((office.server.conversations(), office.server.mails().len()), (4, 1));
    assert!(matches!(office.opened(0).await, Answer::Claim(_)));
    assert_eq!(pause_after(6), SignedDuration::from_secs(1_920));
    assert_eq!([7, 40, u32::MAX].map(pause_after), [LONGEST_PAUSE; 3]);
}

#[tokio::test]
async fn after_a_day_a_letter_is_given_up() {
    let office = office(&[Fault::Temporary; 100]).await;
    office.ask().await;
    let (mut passed, mut wait) = (0, office.after(0).await);
    while let Some(seconds) = wait {
        passed += seconds;
        wait = office.after(seconds).await;
    }
    assert_eq!(passed / 3_600, 24);
    assert_eq!((office.server.conversations(), office.server.mails().len()), (30, 0));
    office.ask().await;
    assert!(office.after(0).await.is_some(), "it may be asked for again");
}

#[tokio::test]
async fn a_letter_that_the_server_refuses_for_good_is_not_tried_again() {
    let office = office(&[Fault::Permanent]).await;
    office.ask().await;
    assert_eq!(office.after(0).await, None);
    assert_eq!(office.after(24 * 60 * 60).await, None);
    assert_eq!((office.server.conversations(), office.server.mails().len()), (1, 0));
    assert!(!NotMailed::Refused("451".into()).is_final() && NotMailed::Address.is_final());
}

#[tokio::test]
async fn a_damaged_row_puts_off_only_itself() {
    for (damaged, statement) in [
        ("an address", "UPDATE addresses SET sealed = x'00'"),
        ("a letter", "UPDATE letters SET attempts = attempts, account = 'x'"),
    ] {
        let office = office(&[]).await;
        office.ask().await;
        let file = SqliteConnectOptions::new().filename(office._folder.path().join("vault.db"));
        let mut vault = file.connect().await.unwrap();
        sqlx::raw_sql(statement).execute(&mut vault).await.unwrap();
        vault.close().await.unwrap();
        let (key_id, tier) = ("bbbbbbbb".parse().unwrap(), "free".parse().unwrap());
        let hash = KeyHash::of(b"b");
        let key = KeyIssued { key_id, hash, hint: "0a9Z".into(), name: None, sealed_name: None, tier };
        let bob: Email = "bob@example.org".parse().unwrap();
        office.send(Command::IssueKey { email: bob.clone(), key }).await;
        office.clock.advance(SignedDuration::from_secs(1));
        office.send(Command::SendLink { email: bob }).await;
        let next = office.after(0).await.unwrap();
        assert!((30..=3_600).contains(&next), "{damaged} is tried again after {next} s");
        assert_eq!(office.server.mail(0).await.to, ["bob@example.org"], "{damaged}");
    }
}

#[tokio::test]
async fn an_erased_address_gets_no_mail() {
    let office = office(&[Fault::Temporary]).await;
    office.ask().await;
    assert_eq!(office.after(0).await, Some(30));
    office.send(Command::EraseAccount { email: email() }).await;
    assert_eq!(office.after(30).await, None);
    assert_eq!(office.server.conversations(), 1);
}

#[tokio::test]
async fn two_letters_to_one_account_go_ten_minutes_apart() {
    let office = office(&[]).await;
    office.ask().await;
    let vault = office.postman.vault();
    let account = vault.account_of(&email()).await.unwrap().unwrap();
    vault.queue(account, LetterKind::Payment, office.clock.now()).await.unwrap();
    assert_eq!(office.after(0).await, Some(600));
    assert_eq!(office.after(600).await, None);
    let subjects = office.server.mails();
    assert!(subjects.iter().all(|mail| mail.data.contains("Subject: Your ")), "{subjects:?}");
    assert_eq!(subjects.len(), 2);
}

#[tokio::test]
async fn it_works_until_it_is_stopped() {
    let office = office(&[]).await;
    let stop = CancellationToken::new();
    let accounts = office.postman.accounts.clone();
    let Office { service, clock, server, postman, _folder } = office;
    let working = postman.run(stop.clone());
    let asking = async {
        let id = clock.command_id();
        let command = Command::SendLink { email: email() };
        let message =
            CommandMessage { id, actor: "Ada".parse().unwrap(), correlation: id, command, not_after: None };
        tokio::time::sleep(Duration::from_millis(50)).await;
        service.handle(message).await;
        server.mail(0).await;
        stop.cancel();
    };
    tokio::join!(working, asking);
    assert_eq!(server.mails().len(), 1);
    assert_eq!(
        accounts.vault().next_letter().await.unwrap(),
        None,
        "what the server took is not mailed twice"
    );
}
