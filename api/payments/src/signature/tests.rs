use super::*;

const FIRST: &str = "whsec_loggia_first_secret";
const SECOND: &str = "whsec_loggia_second_secret";
const BODY: &[u8] = br#"{"id":"evt_1RkLoggia0001","object":"event"}"#;
const SIGNED_AT: i64 = 1_795_163_400;

/// `printf '1795163400.{"id":…}' | openssl dgst -sha256 -hmac whsec_loggia_first_secret`.
const BY_FIRST: &str = "a9c313f00f1f8e4089f151859b4295fa6fde5a8e1f16ed8d0d64991d6be2219f";
const BY_SECOND: &str = "513b7cae60dc81138506904ce4735a8b46d7a6e70858050a4fcf049c2f0a52d5";

fn verified(secrets: &str, header: &str, body: &[u8], seconds_later: i64) -> Result<(), SignatureError> {
    let now = Timestamp::from_second(SIGNED_AT + seconds_later).unwrap();
    secrets.parse::<Secrets>().unwrap().verify(header, body, now)
}

#[test]
fn a_signature_of_the_provider_is_valid_for_five_minutes() {
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
            assert_eq!(verified(secrets, &header, BODY, seconds_later), Ok(()), "{header}");
        }
    }
}

#[test]
fn forged_expired_and_missing_signatures_are_refused() {
    let good = format!("t={SIGNED_AT},v1={BY_FIRST}");
    let flipped = format!("t={SIGNED_AT},v1=b{}", &BY_FIRST[1..]);
    let other_time = format!("t={},v1={BY_FIRST}", SIGNED_AT + 1);
    let padded = format!("t=+{SIGNED_AT},v1={BY_FIRST}");
    for (secrets, header, body, seconds_later, why) in [
        (FIRST, good.as_str(), BODY, 301, SignatureError::Expired),
        (FIRST, &good, BODY, -301, SignatureError::Expired),
        (FIRST, &good, &BODY[..BODY.len() - 1], 0, SignatureError::Mismatch),
        (FIRST, &good, br#"{"id":"evt_1RkLoggia0002","object":"event"}"#, 0, SignatureError::Mismatch),
        (FIRST, &flipped, BODY, 0, SignatureError::Mismatch),
        (FIRST, &other_time, BODY, 0, SignatureError::Mismatch),
        (FIRST, &padded, BODY, 0, SignatureError::Mismatch),
        (SECOND, &good, BODY, 0, SignatureError::Mismatch),
        (SECOND, &good, BODY, 9_999, SignatureError::Mismatch),
        (FIRST, "", BODY, 0, SignatureError::Missing),
        (FIRST, "t=,v1=", BODY, 0, SignatureError::Missing),
        (FIRST, &format!("t={SIGNED_AT}"), BODY, 0, SignatureError::Missing),
        (FIRST, &format!("v1={BY_FIRST}"), BODY, 0, SignatureError::Missing),
        (FIRST, &format!("t=now,v1={BY_FIRST}"), BODY, 0, SignatureError::Missing),
        (FIRST, &format!("t={SIGNED_AT},v0={BY_FIRST}"), BODY, 0, SignatureError::Missing),
        (FIRST, &format!("t={SIGNED_AT},v1={}", &BY_FIRST[1..]), BODY, 0, SignatureError::Missing),
        (FIRST, &format!("t={SIGNED_AT},v1={}", "é".repeat(32)), BODY, 0, SignatureError::Missing),
    ] {
        assert_eq!(verified(secrets, header, body, seconds_later), Err(why), "{header}");
    }
}

#[test]
fn extreme_times_do_not_overflow() {
    for time in [i64::MIN, i64::MAX] {
        assert_eq!(
            verified(FIRST, &format!("t={time},v1={BY_FIRST}"), BODY, 0),
            Err(SignatureError::Mismatch)
        );
    }
}

#[test]
fn secrets_are_parsed_and_never_shown() {
    let secrets: Secrets = format!("{FIRST},{SECOND}").parse().unwrap();
    assert_eq!(format!("{secrets:?}"), "Secrets(2)");
    for text in ["", "short", "whsec_good_enough,", "whsec with blanks", "whsec_good_enough,é"] {
        let error = text.parse::<Secrets>().unwrap_err();
        assert!(error.starts_with("expected signing secrets such as whsec_…"), "{text}");
    }
}
