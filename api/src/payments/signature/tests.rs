use super::*;

const FIRST: &str = "whsec_loggia_first_secret";
const SECOND: &str = "whsec_loggia_second_secret";
const BODY: &[u8] = br#"{"id":"evt_1RkLoggia0001","object":"event"}"#;
const SIGNED_AT: i64 = 1_795_163_400;

/// `printf '1795163400.{"id":…}' | openssl dgst -sha256 -hmac whsec_loggia_first_secret`.
const BY_FIRST: &str = "a9c313f00f1f8e4089f151859b4295fa6fde5a8e1f16ed8d0d64991d6be2219f";
const BY_SECOND: &str = "513b7cae60dc81138506904ce4735a8b46d7a6e70858050a4fcf049c2f0a52d5";

fn checked(secrets: &str, header: &str, body: &[u8], seconds_later: i64) -> Result<(), NotSigned> {
    let now = Timestamp::from_second(SIGNED_AT + seconds_later).unwrap();
    secrets.parse::<Secrets>().unwrap().check(header, body, now)
}

#[test]
fn what_the_provider_signed_is_believed() {
    let both = format!("{FIRST}, {SECOND}");
    for (secrets, header) in [
        (FIRST, format!("t={SIGNED_AT},v1={BY_FIRST}")),
        (FIRST, format!("t={SIGNED_AT}, v1={BY_FIRST}, v0=whatever")),
        (FIRST, format!("v1={BY_SECOND},v1={BY_FIRST},t={SIGNED_AT}")),
        (SECOND, format!("t={SIGNED_AT},v1={BY_SECOND},v1={BY_FIRST}")),
        (&both, format!("t={SIGNED_AT},v1={BY_FIRST}")),
        (&both, format!("t={SIGNED_AT},v1={BY_SECOND}")),
        (FIRST, format!("t={SIGNED_AT},v1={}", BY_FIRST.to_uppercase())),
    ] {
        for seconds_later in [-300, 0, 300] {
            assert_eq!(checked(secrets, &header, BODY, seconds_later), Ok(()), "{header}");
        }
    }
}

#[test]
fn what_is_forged_stale_or_unsigned_is_not() {
    let good = format!("t={SIGNED_AT},v1={BY_FIRST}");
    let flipped = format!("t={SIGNED_AT},v1=b{}", &BY_FIRST[1..]);
    let elsewhen = format!("t={},v1={BY_FIRST}", SIGNED_AT + 1);
    let padded = format!("t=+{SIGNED_AT},v1={BY_FIRST}");
    for (secrets, header, body, seconds_later, why) in [
        (FIRST, good.as_str(), BODY, 301, NotSigned::Stale),
        (FIRST, &good, BODY, -301, NotSigned::Stale),
        (FIRST, &good, &BODY[..BODY.len() - 1], 0, NotSigned::Wrong),
        (FIRST, &good, br#"{"id":"evt_1RkLoggia0002","object":"event"}"#, 0, NotSigned::Wrong),
        (FIRST, &flipped, BODY, 0, NotSigned::Wrong),
        (FIRST, &elsewhen, BODY, 0, NotSigned::Wrong),
        (FIRST, &padded, BODY, 0, NotSigned::Wrong),
        (SECOND, &good, BODY, 0, NotSigned::Wrong),
        (SECOND, &good, BODY, 9_999, NotSigned::Wrong),
        (FIRST, "", BODY, 0, NotSigned::Absent),
        (FIRST, "t=,v1=", BODY, 0, NotSigned::Absent),
        (FIRST, &format!("t={SIGNED_AT}"), BODY, 0, NotSigned::Absent),
        (FIRST, &format!("v1={BY_FIRST}"), BODY, 0, NotSigned::Absent),
        (FIRST, &format!("t=now,v1={BY_FIRST}"), BODY, 0, NotSigned::Absent),
        (FIRST, &format!("t={SIGNED_AT},v0={BY_FIRST}"), BODY, 0, NotSigned::Absent),
        (FIRST, &format!("t={SIGNED_AT},v1={}", &BY_FIRST[1..]), BODY, 0, NotSigned::Absent),
        (FIRST, &format!("t={SIGNED_AT},v1={}", "é".repeat(32)), BODY, 0, NotSigned::Absent),
    ] {
        assert_eq!(checked(secrets, header, body, seconds_later), Err(why), "{header}");
    }
}

#[test]
fn times_at_the_ends_of_numbers_are_stale_at_most() {
    for time in [i64::MIN, i64::MAX] {
        assert_eq!(checked(FIRST, &format!("t={time},v1={BY_FIRST}"), BODY, 0), Err(NotSigned::Wrong));
    }
}

#[test]
fn secrets_are_read_and_never_shown() {
    let secrets: Secrets = format!("{FIRST},{SECOND}").parse().unwrap();
    assert_eq!(format!("{secrets:?}"), "Secrets(2)");
    for text in ["", "short", "whsec_good_enough,", "whsec with blanks", "whsec_good_enough,é"] {
        let error = text.parse::<Secrets>().unwrap_err();
        assert!(error.starts_with("signing secrets such as whsec_…"), "{text}");
    }
}
