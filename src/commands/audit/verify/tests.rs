use super::*;

#[test]
fn counts_are_shown_as_a_table() {
    let row = |key: &str, ledger, nats| AllowanceCounts {
        key_id: key.parse().unwrap(),
        month: "2026-11".parse().unwrap(),
        tier: "free".parse().unwrap(),
        ledger,
        others: [("nats", nats)].into(),
    };
    let used = |used, overrun| Used { used, overrun };
    let rows = [row("Aaaaaaaa", used(20, 0), used(19, 0)), row("Bbbbbbbb", used(7, 2), used(7, 1))];
    assert_eq!(
        table(&rows),
        "key       month    tier                            ledger            nats\n\
         Aaaaaaaa  2026-11  free                                20              19\n\
         Bbbbbbbb  2026-11  free                             7 + 2           7 + 1"
    );
}
