use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use jiff::SignedDuration;
use schemas::link::LinkHash;
use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tempfile::TempDir;
use ulid::Ulid;

use super::*;

/// Returns a new vault in a folder of its own.
pub(crate) async fn new_vault() -> (TempDir, Vault) {
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::open(folder.path(), None).await.unwrap();
    (folder, vault)
}

/// The time this many minutes after the start of a test.
pub(crate) fn minute(number: i64) -> Timestamp {
    "2026-11-20T08:30:00.25Z".parse::<Timestamp>().unwrap() + SignedDuration::from_mins(number)
}

fn email(text: &str) -> Email {
    text.parse().unwrap()
}

/// Pseudo-random, so that no address contains a part of another.
fn account(number: u128) -> AccountId {
    let digest: [u8; 32] = Sha256::digest(number.to_be_bytes()).into();
    AccountId(Ulid(u128::from_be_bytes(*digest.first_chunk().unwrap())))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Returns whether any file of the folder contains these bytes.
fn found(folder: &Path, bytes: &[u8]) -> bool {
    let mut files = fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    files.any(|file| file.windows(bytes.len()).any(|window| window == bytes))
}

async fn sealed(vault: &Vault, account: AccountId) -> Vec<u8> {
    sqlx::query_scalar("SELECT sealed FROM addresses WHERE account = ?1")
        .bind(account.to_string())
        .fetch_one(&vault.pool)
        .await
        .unwrap()
}

#[tokio::test]
async fn an_address_keeps_its_first_account() {
    let (folder, vault) = new_vault().await;
    assert_eq!(vault.account_of(&email("ada@example.org")).await.unwrap(), None);
    assert_eq!(vault.add_address(&email("Ada@example.org"), account(1)).await.unwrap(), account(1));
    assert_eq!(vault.add_address(&email("ADA@EXAMPLE.ORG"), account(2)).await.unwrap(), account(1));
    assert_eq!(vault.add_address(&email("bob@example.org"), account(3)).await.unwrap(), account(3));
    vault.close().await;

    let vault = Vault::open(folder.path(), None).await.unwrap();
    assert_eq!(vault.account_of(&email("ada@example.org")).await.unwrap(), Some(account(1)));
    assert_eq!(vault.email_of(account(1)).await.unwrap(), Some(email("Ada@example.org")));
    assert_eq!(vault.email_of(account(2)).await.unwrap(), None);
    let mut all = [(account(1), email("Ada@example.org")), (account(3), email("bob@example.org"))];
    all.sort_by_key(|(account, _)| *account);
    assert_eq!(vault.emails().await.unwrap(), all);
}

#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    let (folder, vault) = new_vault().await;
    vault.add_address(&email("ada@example.org"), account(1)).await.unwrap();
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [FILE, SECRET_FILE]);
    assert_eq!((mode(&folder.path().join(FILE)), mode(&folder.path().join(SECRET_FILE))), (0o600, 0o600));
    assert!(!found(folder.path(), b"ada@example.org"));
}

#[tokio::test]
async fn no_byte_of_an_erased_address_is_left() {
    let (folder, vault) = new_vault().await;
    // Enough for pages to be split, so that rows move.
    let emails: Vec<Email> = (0..400).map(|n| email(&format!("person-{n}@example.org"))).collect();
    for (number, email) in (0..).zip(&emails) {
        vault.add_address(email, account(number)).await.unwrap();
    }
    for number in (3..400).step_by(20) {
        let email = &emails[usize::try_from(number).unwrap()];
        let id = account(number).to_string();
        let kept =
            [&vault.cipher.digest(email)[..], &sealed(&vault, account(number)).await, id.as_bytes()].concat();
        // Pieces, since the first bytes of a freed cell are overwritten in any case.
        let traces: Vec<&[u8]> = kept.chunks_exact(12).collect();
        assert!(found(folder.path(), traces[0]), "the bytes are in the file before");
        assert!(vault.erase(account(number)).await.unwrap());
        assert!(!traces.iter().any(|trace| found(folder.path(), trace)), "of {number}");
        assert_eq!(vault.account_of(email).await.unwrap(), None);
        assert!(!vault.erase(account(number)).await.unwrap(), "it is erased only once");
    }
    assert_eq!(vault.emails().await.unwrap().len(), 380);
    assert_eq!(vault.add_address(&emails[3], account(1_000)).await.unwrap(), account(1_000));
}

/// An account of which SQLite leaves a copy in a gap when it moves rows; with a fixed secret the pages are the same each time.
async fn account_with_a_copy(folder: &Path) -> (Vault, AccountId, [u8; 32]) {
    fs::write(folder.join(SECRET_FILE), "5c".repeat(32)).unwrap();
    let vault = Vault::open(folder, None).await.unwrap();
    let mut digests = HashMap::new();
    let mut transaction = vault.pool.begin().await.unwrap();
    // Of all lengths, so that a moved row does not always fit into the freed cell.
    for number in 0..3_000 {
        let email =
            email(&format!("{}{number}@example.org", "a".repeat(usize::try_from(number % 41).unwrap())));
        let digest = vault.cipher.digest(&email);
        sqlx::query("INSERT INTO addresses (digest, account, sealed) VALUES (?1, ?2, ?3)")
            .bind(digest.as_slice())
            .bind(account(number).to_string())
            .bind(vault.cipher.seal(&email, account(number)).unwrap())
            .execute(&mut *transaction)
            .await
            .unwrap();
        digests.insert(digest, (number, 0));
    }
    transaction.commit().await.unwrap();
    for window in fs::read(folder.join(FILE)).unwrap().windows(32) {
        digests.entry(window.try_into().unwrap()).and_modify(|(_, copies)| *copies += 1);
    }
    // Each is in the table and in the index of accounts.
    let more = digests.iter().filter(|(_, (_, copies))| *copies > 2);
    let (digest, (number, _)) =
        more.min_by_key(|(_, (number, _))| *number).expect("SQLite leaves such copies");
    (vault, account(*number), *digest)
}

#[tokio::test]
async fn copies_that_sqlite_left_in_gaps_are_erased_too() {
    let folder = tempfile::tempdir().unwrap();
    let (vault, account, digest) = account_with_a_copy(folder.path()).await;
    assert!(vault.erase(account).await.unwrap());
    assert!(!found(folder.path(), &digest));
    assert_eq!(vault.emails().await.unwrap().len(), 2_999);
}

#[tokio::test]
async fn a_rewrite_that_a_killed_process_missed_is_done_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let (vault, account, digest) = account_with_a_copy(folder.path()).await;
    // The state that erasing reaches before the file is rewritten.
    let erased =
        format!("DELETE FROM addresses WHERE account = '{account}'; INSERT INTO traces (only) VALUES (1);");
    sqlx::raw_sql(AssertSqlSafe(erased)).execute(&vault.pool).await.unwrap();
    vault.close().await;
    assert!(found(folder.path(), &digest), "the copy is still there");
    let vault = Vault::open(folder.path(), None).await.unwrap();
    assert!(!found(folder.path(), &digest));
    assert_eq!(vault.emails().await.unwrap().len(), 2_999);
}

#[tokio::test]
async fn a_wrong_or_missing_secret_is_reported_with_its_setting() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("other.key");
    let reported = async |folder: &Path| {
        let opened = Vault::open(folder, Some(&secret)).await.err().unwrap();
        let read = Vault::open_read_only(folder, Some(&secret)).await.err().unwrap();
        assert_eq!(opened, read);
        let text = opened.to_string();
        let start = format!("the secret of the vault cannot be used: {} ", secret.display());
        let end =
            "; set secret_file (LOGGIA_SECRET_FILE) to the file with the secret that the vault was made with";
        text.strip_prefix(&start).unwrap().strip_suffix(end).unwrap().to_owned()
    };
    let vault = Vault::open(folder.path(), Some(&secret)).await.unwrap();
    assert_eq!(mode(&secret), 0o600);
    vault.add_address(&email("ada@example.org"), account(1)).await.unwrap();
    vault.close().await;
    let right = fs::read_to_string(&secret).unwrap();

    fs::write(&secret, format!("{}\n", "0a".repeat(32))).unwrap();
    assert_eq!(reported(folder.path()).await, "contains a secret other than the one of this vault");
    for text in ["", "0a", &"xy".repeat(32), &"é".repeat(32)] {
        fs::write(&secret, text).unwrap();
        assert_eq!(
            reported(folder.path()).await,
            "does not contain 64 hexadecimal digits, such as `openssl rand -hex 32` prints"
        );
    }
    fs::remove_file(&secret).unwrap();
    assert_eq!(reported(folder.path()).await, "does not exist");
    assert!(!secret.exists(), "no secret is created instead");

    fs::write(&secret, right.to_uppercase()).unwrap();
    let vault = Vault::open(folder.path(), Some(&secret)).await.unwrap();
    assert_eq!(vault.email_of(account(1)).await.unwrap(), Some(email("ada@example.org")));
}

#[tokio::test]
async fn an_empty_vault_accepts_a_new_secret() {
    let folder = tempfile::tempdir().unwrap();
    Vault::open(folder.path(), None).await.unwrap().close().await;
    fs::write(folder.path().join(SECRET_FILE), "0a".repeat(32)).unwrap();
    let vault = Vault::open(folder.path(), None).await.unwrap();
    vault.add_address(&email("ada@example.org"), account(1)).await.unwrap();
    let reader = Vault::open_read_only(folder.path(), None).await.unwrap().unwrap();
    assert_eq!(reader.emails().await.unwrap(), [(account(1), email("ada@example.org"))]);
}

#[tokio::test]
async fn a_reader_creates_nothing_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Vault::open_read_only(folder.path(), None).await.unwrap().is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let vault = Vault::open(folder.path(), None).await.unwrap();
    assert!(Vault::open_read_only(folder.path(), None).await.unwrap().is_none(), "it is empty");
    vault.add_address(&email("ada@example.org"), account(1)).await.unwrap();
    let reader = Vault::open_read_only(folder.path(), None).await.unwrap().unwrap();
    assert!(reader.erase(account(1)).await.is_err());
    assert_eq!(reader.emails().await.unwrap().len(), 1);
}

#[tokio::test]
async fn another_file_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    fs::write(&path, "not a database, but long enough to be looked at as if it were one").unwrap();
    let error = Vault::open(folder.path(), None).await.err().unwrap();
    assert!(matches!(error, VaultError::Corrupt(_)), "{error}");
    fs::remove_file(&path).unwrap();

    Vault::open(folder.path(), None).await.unwrap().close().await;
    let pool = SqlitePool::connect(path.to_str().unwrap()).await.unwrap();
    sqlx::query("PRAGMA user_version = 8").execute(&pool).await.unwrap();
    pool.close().await;
    let sentence = format!(
        "the vault of addresses is not available: {} was written by a newer Loggia (its tables have version 8, this \
         one knows 7); use that one",
        path.display()
    );
    assert_eq!(Vault::open(folder.path(), None).await.err().unwrap().to_string(), sentence);
}

#[tokio::test]
async fn messages_and_links_are_erased_with_their_address() {
    let ((folder, vault), now) = (new_vault().await, Timestamp::UNIX_EPOCH);
    let (ada, link) = (account(1), LinkHash::of("a token"));
    vault.add_address(&email("ada@example.org"), ada).await.unwrap();
    vault.queue_message(ada, MessageKind::Proof, now).await.unwrap();
    vault.message_sent(&vault.due_message(now).await.unwrap().unwrap(), now).await.unwrap();
    vault.queue_message(ada, MessageKind::Payment, now).await.unwrap();
    vault.create_link(ada, link, now).await.unwrap();
    assert!(found(folder.path(), ada.to_string().as_bytes()) && found(folder.path(), &link.0.0));
    assert!(vault.erase(ada).await.unwrap());
    assert!(!found(folder.path(), ada.to_string().as_bytes()) && !found(folder.path(), &link.0.0));
    assert_eq!((vault.next_message_due().await.unwrap(), vault.link(link).await.unwrap()), (None, None));
}

#[tokio::test]
async fn a_vault_of_the_first_version_is_migrated() {
    let (folder, vault) = new_vault().await;
    vault.add_address(&email("ada@example.org"), account(1)).await.unwrap();
    // Without what the first version did not have.
    let back = "DROP TABLE letters; DROP TABLE mailed; DROP TABLE links; DROP TABLE notices; DROP TABLE identity; \
                DROP TABLE traces; DROP TABLE notice_names; DROP TABLE key_names; \
                PRAGMA user_version = 1;";
    sqlx::raw_sql(back).execute(&vault.pool).await.unwrap();
    vault.close().await;

    let reader = Vault::open_read_only(folder.path(), None).await.unwrap().unwrap();
    assert_eq!(reader.emails().await.unwrap(), [(account(1), email("ada@example.org"))]);
    assert_eq!(reader.notices().await.unwrap(), []);
    reader.close().await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let vault = Vault::open(folder.path(), None).await.unwrap();
        ids.push(vault.id().await.unwrap());
        assert_eq!(vault.emails().await.unwrap(), [(account(1), email("ada@example.org"))]);
        assert_eq!(vault.next_message_due().await.unwrap(), None);
        vault.close().await;
    }
    assert_eq!(ids[0], ids[1], "the id stays the same");
}

#[tokio::test]
async fn an_address_is_found_by_both_forms_of_its_domain_also_as_version_0_1_stored_it() {
    let (_folder, vault) = new_vault().await;
    let [unicode, ascii] = ["bo@münchen.example", "Bo@xn--mnchen-3ya.example"].map(email);
    assert_eq!(vault.add_address(&unicode, account(1)).await.unwrap(), account(1));
    assert_eq!(vault.account_of(&ascii).await.unwrap(), Some(account(1)));
    assert_eq!(vault.add_address(&ascii, account(2)).await.unwrap(), account(1));
    assert!(vault.erase(account(1)).await.unwrap());
    // Version 0.1 digested the address without folding it.
    for (given, other, number) in [(&unicode, &ascii, 3), (&ascii, &unicode, 4)] {
        sqlx::query("INSERT INTO addresses (digest, account, sealed) VALUES (?1, ?2, ?3)")
            .bind(vault.cipher.digests(given).next().unwrap().as_slice())
            .bind(account(number).to_string())
            .bind(vault.cipher.seal(given, account(number)).unwrap())
            .execute(&vault.pool)
            .await
            .unwrap();
        if number == 3 {
            assert_eq!(vault.account_of(other).await.unwrap(), Some(account(3)));
        }
    }
    // If both have an account already, each keeps its own.
    assert_eq!(vault.account_of(&unicode).await.unwrap(), Some(account(3)));
    assert_eq!(vault.account_of(&ascii).await.unwrap(), Some(account(4)));
}

#[tokio::test]
async fn a_secret_that_is_no_small_file_is_refused_and_not_read() {
    let (folder, vault) = new_vault().await;
    vault.add_address(&email("ada@example.org"), account(1)).await.unwrap();
    vault.close().await;
    let secret = folder.path().join(SECRET_FILE);
    let reported = async || Vault::open(folder.path(), None).await.err().unwrap().to_string();
    let sentence = |reason: &str| {
        format!(
            "the secret of the vault cannot be used: {} cannot be read ({reason}); set secret_file (LOGGIA_SECRET_FILE) to \
             the file with the secret that the vault was made with",
            secret.display()
        )
    };
    // Gigabytes that take no room on the disk.
    fs::File::options().write(true).open(&secret).unwrap().set_len(3 << 30).unwrap();
    assert_eq!(
        reported().await,
        sentence("it has more than 1024 bytes, the most that a file of its kind has")
    );
    fs::remove_file(&secret).unwrap();
    fs::create_dir(&secret).unwrap();
    assert_eq!(reported().await, sentence("it is not a regular file"));
}

#[tokio::test]
async fn a_vault_with_anything_but_its_tables_is_refused() {
    let (folder, vault) = new_vault().await;
    let file = folder.path().join(FILE);
    check_tables(&file).await.unwrap();
    let keeping = "CREATE TABLE kept (address); CREATE TRIGGER quiet AFTER DELETE ON addresses BEGIN \
                   INSERT INTO kept VALUES (old.sealed); END";
    sqlx::raw_sql(keeping).execute(&vault.pool).await.unwrap();
    vault.close().await;
    let opened = Vault::open(folder.path(), None).await.err().unwrap().to_string();
    let path = file.display();
    assert_eq!(
        opened,
        format!(
            "the vault of addresses is damaged: {path} has the trigger or view “quiet”, which Loggia does not create; restore \
             the last backup"
        )
    );
    assert_eq!(check_tables(&file).await.unwrap_err().to_string(), opened);
    // A table of its own is in nobody's way, and yet no part of a vault.
    let mut hand = sqlite::options(&file).connect().await.unwrap();
    sqlx::raw_sql("DROP TRIGGER quiet").execute(&mut hand).await.unwrap();
    hand.close().await.unwrap();
    assert_eq!(
        check_tables(&file).await.unwrap_err().to_string(),
        "the vault of addresses is damaged: its schema is not the one that it is created with: the table “kept” was added; \
         restore the last backup"
    );
}
