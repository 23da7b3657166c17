use kit::smtp::{Fault, Smtp};

use super::*;

fn mail(to: &str) -> Mail {
    let text = "A line.\n.hidden\n\nGrüße: https://catalog.example.org/claim/x\n";
    Mail { to: to.parse().unwrap(), subject: "Your keys at catalog.example.org".into(), text: text.into() }
}

fn mailer(server: &Smtp) -> Mailer {
    let from: Sender = "The Catalog <mail@example.org>".parse().unwrap();
    Mailer::new(&server.url().parse().unwrap(), Some(&from)).unwrap()
}

/// The headers except those that differ each time.
fn headers(data: &str) -> Vec<&str> {
    let headers = data.split_once("\n\n").unwrap().0.lines();
    headers.filter(|line| !line.starts_with("Date: ") && !line.starts_with("Message-ID: ")).collect()
}

#[tokio::test]
async fn a_mail_arrives_unchanged() {
    let server = Smtp::start(&[]).await;
    mailer(&server).send(&mail("Ada.Pelt@example.org")).await.unwrap();
    let received = server.mail(0).await;
    assert_eq!(
        (received.hello.as_str(), received.from.as_str(), received.to.as_slice()),
        ("example.org", "mail@example.org", ["Ada.Pelt@example.org".to_owned()].as_slice())
    );
    assert_eq!(
        headers(&received.data),
        [
            "From: \"The Catalog\" <mail@example.org>",
            "To: Ada.Pelt@example.org",
            "Subject: Your keys at catalog.example.org",
            "Auto-Submitted: auto-generated",
            "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: quoted-printable",
        ]
    );
    assert_eq!(
        received.text(),
        "A line.\n.hidden\n\nGr=C3=BC=C3=9Fe: https://catalog.example.org/claim/x\n\n"
    );
}

#[tokio::test]
async fn a_domain_is_sent_in_ascii() {
    let server = Smtp::start(&[]).await;
    mailer(&server).send(&mail("ada@bücher.example")).await.unwrap();
    assert_eq!(server.mail(0).await.to, ["ada@xn--bcher-kva.example"]);
}

#[tokio::test]
async fn errors_do_not_contain_the_address() {
    let server = Smtp::start(&[Fault::Temporary, Fault::Permanent, Fault::Disconnect]).await;
    let mailer = mailer(&server);
    for sentence in [
        "the mail server refuses it with the code 451",
        "the mail server refuses it with the code 550",
        "the mail server cannot be reached, or broke off: ",
    ] {
        let error = mailer.send(&mail("ada@example.org")).await.unwrap_err().to_string();
        assert!(error.starts_with(sentence) && !error.contains("ada"), "{error}");
    }
    assert_eq!(server.mails(), []);
    mailer.send(&mail("ada@example.org")).await.unwrap();
    assert_eq!((server.mails().len(), server.sessions()), (1, 4));
    // Non-ASCII letters before the @ need a server with SMTPUTF8.
    let error = mailer.send(&mail("адa@example.org")).await.unwrap_err();
    assert_eq!(error.to_string(), "the mail server cannot be reached, or broke off: it was not understood");
}

#[tokio::test]
async fn a_server_that_is_not_running_is_an_error() {
    let server = Smtp::start(&[]).await;
    let mailer = mailer(&server);
    drop(server);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let error = mailer.send(&mail("ada@example.org")).await.unwrap_err().to_string();
    assert!(error.starts_with("the mail server cannot be reached, or broke off: "), "{error}");
}

#[test]
fn a_line_break_reaches_no_header() {
    for text in ["ada@example.org\r\nBcc: bob@example.org", "ada@example.org\nX: y", "a\r\n@example.org"] {
        assert!(text.parse::<Email>().is_err(), "{text:?}");
    }
    // Nor would a line break in a subject.
    let from: Sender = "mail@example.org".parse().unwrap();
    let mail =
        Mail { subject: "Hello\r\nBcc: bob@example.org\r\n\r\nBuy this".into(), ..mail("ada@example.org") };
    let written = String::from_utf8(message(&mail, &from.0).unwrap().formatted()).unwrap();
    let names: Vec<&str> = written
        .split("\r\n\r\n")
        .next()
        .unwrap()
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, _)| name)
        .collect();
    assert!(!names.contains(&"Bcc"), "{written}");
    assert!(written.contains("A line."), "{written}");
}

#[test]
fn a_password_is_sent_over_tls_only() {
    let from: Sender = "mail@example.org".parse().unwrap();
    assert!(Mailer::new(&"smtp://me:secret@mail.example.org".parse().unwrap(), Some(&from)).is_ok());
    assert!(Mailer::new(&"smtps://me:secret@mail.example.org".parse().unwrap(), Some(&from)).is_ok());
    assert!(Mailer::new(&MailTransport::Log, None).is_ok());
    let error = Mailer::new(&"smtp://mail.example.org".parse().unwrap(), None).err().unwrap().to_string();
    assert_eq!(error, "mail (LOGGIA_MAIL) and mail_from (LOGGIA_MAIL_FROM) cannot be used: no sender is set");
    for (host, local) in
        [("localhost", true), ("127.0.0.1", true), ("[::1]", true), ("mail.example.org", false)]
    {
        assert_eq!(is_local(host), local, "{host}");
    }
}
