use super::*;

fn summaries(slugs: &[&str]) -> Vec<String> {
    slugs.iter().map(|slug| format!("{{\"slug\":\"{slug}\",\"url\":\"\u{1}/projects/{slug}\"")).collect()
}

fn hits<'a>(summaries: &'a [String], scores: &[f32]) -> Vec<Hit<'a>> {
    let hit = |(summary, score): (&'a String, &f32)| Hit { summary: summary.as_bytes(), score: *score };
    summaries.iter().zip(scores).map(hit).collect()
}

fn assembled(query: &str, hits: &[Hit<'_>], total: u64) -> String {
    let site = "https://x.org".parse().unwrap();
    String::from_utf8(assemble(query, hits, total, None, &site).unwrap()).unwrap()
}

#[test]
fn an_answer_is_put_together_from_rendered_summaries() {
    let summaries = summaries(&["a", "b"]);
    assert_eq!(
        assembled(" Zür\"ich\n", &hits(&summaries, &[1.5, 0.1]), 12),
        concat!(
            r#"{"query":" Zür\"ich\n","count":2,"total":12,"results":["#,
            r#"{"slug":"a","url":"https://x.org/projects/a","score":1.5},"#,
            r#"{"slug":"b","url":"https://x.org/projects/b","score":0.1}"#,
            r#"],"next_cursor":null}"#
        )
    );
}

#[test]
fn nothing_found_is_an_answer_too() {
    assert_eq!(
        assembled("x", &[], 0),
        r#"{"query":"x","count":0,"total":0,"results":[],"next_cursor":null}"#
    );
}

#[test]
fn one_buffer_is_enough() {
    let summaries = summaries(&["a"; 50]);
    let hits = hits(&summaries, &[1.0 / 3.0; 50]);
    let site: Site = "https://catalog.example.org/with/a/long/path".parse().unwrap();
    let body = assemble(&"\"".repeat(200), &hits, 50, None, &site).unwrap();
    let room = json_writer::room(hits.iter().map(|hit| hit.summary), &site);
    assert_eq!(body.capacity(), room + 2 * 200, "the buffer did not grow");
}
