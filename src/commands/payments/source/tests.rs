use super::*;

fn read(text: &str) -> Vec<(usize, String)> {
    events(text).into_iter().map(|source| (source.number, source.text)).collect()
}

#[test]
fn events_are_read_from_lines_arrays_and_lists() {
    let two = [(1, r#"{"id":"a"}"#.to_owned()), (2, r#"{"id":"b"}"#.to_owned())];
    assert_eq!(read("{\"id\":\"a\"}\n{\"id\":\"b\"}\n"), two);
    assert_eq!(read("\u{feff}[{\"id\": \"a\"},\n {\"id\": \"b\"}]"), two);
    assert_eq!(read(r#"{"object": "list", "data": [{"id": "a"}, {"id": "b"}], "has_more": false}"#), two);
    assert_eq!(read("{\n \"id\": \"a\",\n \"data\": {}}"), [(1, r#"{"id":"a","data":{}}"#.to_owned())]);
    assert_eq!(read("{\"id\":\"a\"}\n\n nonsense \n"), [two[0].clone(), (3, "nonsense".to_owned())]);
    assert_eq!(read(""), []);
}
