use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

fn operator() -> User {
    User {
        name: "operator",
        inbox: "_INBOX.operator".into(),
        publishes: Vec::new(),
        must_publish: Vec::new(),
        subscribes: Vec::new(),
        responses: None,
    }
}

fn login(url: &str) -> Login {
    Login { url: url.into(), credentials: None, ca: None, user: operator() }
}

#[test]
fn addresses_are_displayed_without_passwords() {
    assert_eq!(login("nats://me:pw@a:4222, tls://b:4223").redacted_url(), "a:4222, b:4223");
    assert_eq!(login("c:1").redacted_url(), "c:1");
}

#[test]
fn addresses_are_parsed_and_two_users_refused() {
    let hosts = |url: &str| -> Vec<String> {
        login(url)
            .servers()
            .unwrap()
            .iter()
            .map(|server| format!("{}:{}", server.host(), server.port()))
            .collect()
    };
    assert_eq!(hosts("tls://a:4222,nats://b"), ["a:4222", "b:4222"]);
    assert_eq!(hosts("nats://me:pw@a, nats://b"), ["a:4222", "b:4222"]);
    let refused = |url: &str| login(url).servers().unwrap_err().to_string();
    assert_eq!(
        refused("nats://me:pw@a,nats://you:pw@b"),
        "nats_url: the addresses name different users; give all the same one, or use nats_creds"
    );
    assert_eq!(
        refused("nats://a,,b"),
        "nats_url: the NATS address is not one: “” has no host; write it as nats://host:4222 or \
         nats://user:password@host:4222"
    );
}

#[tokio::test]
async fn a_file_without_credentials_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.nk");
    let refused = async || match with_credentials(ConnectOptions::new(), &path).await {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it was accepted"),
    };
    let shown = path.display();
    assert_eq!(
        refused().await,
        format!("nats_creds: {shown} cannot be read: No such file or directory (os error 2)")
    );
    // The seed of an account is not one of a user.
    let account = KeyPair::new_account().seed().unwrap();
    for text in ["", "hello", "SUABC", &account] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(
            refused().await,
            format!(
                "nats_creds: {shown} contains neither a token with its key nor the seed of a user; `loggia nats \
                 config` makes seeds"
            )
        );
    }
    let user = KeyPair::new_user().seed().unwrap();
    std::fs::write(&path, format!("# write\n{user}\n")).unwrap();
    assert!(with_credentials(ConnectOptions::new(), &path).await.is_ok());
}

#[tokio::test]
async fn an_authority_file_must_contain_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, "nothing").unwrap();
    assert_eq!(
        check_authority(&path).await.unwrap_err().to_string(),
        format!("nats_ca: {} contains no PEM certificate", path.display())
    );
}

#[tokio::test]
async fn a_server_without_tls_gets_no_credentials_if_an_authority_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let (ca, seed) = (folder.path().join("ca.pem"), folder.path().join("write.nk"));
    let certificate = rcgen::generate_simple_self_signed(vec!["nats.example.org".to_owned()]).unwrap();
    std::fs::write(&ca, certificate.cert.pem()).unwrap();
    std::fs::write(&seed, KeyPair::new_user().seed().unwrap()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("nats://127.0.0.1:{}", listener.local_addr().unwrap().port());
    // A man in the middle, which requests the signature that the real server would request.
    let attacker = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let info = "INFO {\"server_id\":\"a\",\"version\":\"2.11.0\",\"nonce\":\"abcdefghijk\",\"max_payload\":1048576,\
                    \"tls_required\":false}\r\n";
        stream.write_all(info.as_bytes()).await.unwrap();
        let mut received = vec![0; 4_096];
        let read = stream.read(&mut received).await.unwrap_or(0);
        received.truncate(read);
        received
    };
    let login = Login { credentials: Some(seed), ca: Some(ca), ..login(&url) };
    let (connected, received) = tokio::join!(login.connect(), attacker);
    assert!(connected.is_err());
    assert_eq!(received.first(), Some(&0x16), "a TLS handshake, and nothing else: {received:?}");
}
