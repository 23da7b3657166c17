use super::super::{Finding, Verdict};
use super::*;

#[test]
fn an_expiring_certificate_is_reported() {
    let end: Timestamp = "2026-12-24T12:00:00Z".parse().unwrap();
    let found = |days: i64| {
        let mut findings = Findings::default();
        check_certificates("ca.pem", &[end], end - SignedDuration::from_hours(24 * days), &mut findings);
        findings.0.into_iter().map(|Finding { verdict, message, .. }| (verdict, message)).collect::<Vec<_>>()
    };
    assert_eq!(found(31), []);
    let renewal = "renew it with `loggia nats config`";
    assert_eq!(
        found(29),
        [(Verdict::Warning, format!("a certificate in ca.pem expires on {end:.0}; {renewal}"))]
    );
    assert_eq!(
        found(0),
        [(Verdict::Critical, format!("a certificate in ca.pem expired on {end:.0}; {renewal}"))]
    );
}
