use super::*;

fn entry(overrun: bool) -> LedgerEntry {
    let call = Call {
        id: CallId(uuid::Uuid::from_u128(7)),
        key_id: "Ab3dEf9h".parse().unwrap(),
        tier: "free".parse().unwrap(),
        month: "2026-11".parse().unwrap(),
        time: "2026-11-20T08:30:00.123456Z".parse().unwrap(),
        surface: Surface::Mcp,
        operation: "get_project".into(),
    };
    LedgerEntry { position: Position(41), call, overrun, source: "USAGE_FREE".into(), sequence: 3 }
}

#[test]
fn a_call_is_one_line_as_text_as_csv_and_as_json() {
    assert_eq!(
        line(&entry(true), false, false),
        "2026-11-20T08:30:00.123456Z  mcp   get_project       00000000-0000-0000-0000-000000000007  free  over the \
         quota"
    );
    assert_eq!(HEADINGS.split(',').count(), line(&entry(false), true, false).split(',').count());
    assert_eq!(
        line(&entry(false), true, false),
        "41,2026-11-20T08:30:00.123456Z,mcp,get_project,00000000-0000-0000-0000-000000000007,Ab3dEf9h,free,2026-11,\
         false"
    );
    assert_eq!(
        line(&entry(false), false, true),
        r#"{"position":41,"time":"2026-11-20T08:30:00.123456Z","surface":"mcp","operation":"get_project","call_id":"00000000-0000-0000-0000-000000000007","key_id":"Ab3dEf9h","tier":"free","month":"2026-11","overrun":false}"#
    );
}
