use super::*;

fn summaries(slugs: &[&str]) -> Vec<String> {
    slugs.iter().map(|slug| format!("{{\"slug\":\"{slug}\",\"url\":\"\u{1}/projects/{slug}\"")).collect()
}

fn hits<'a>(summaries: &'a [String], scores: &[f32]) -> Vec<Hit<'a>> {
    let hit = |(summary, score): (&'a String, &f32)| Hit { summary: summary.as_bytes(), score: *score };
    summaries.iter().zip(scores).map(hit).collect()
}

fn shown<'a>(hits: &'a [Hit<'a>], total: u64) -> Shown<'a> {
    Shown { hits, total, counts: &[], detail: Detail::Full, highlights: false }
}

fn assembled(query: &str, hits: &[Hit<'_>], total: u64) -> String {
    let site = "https://x.org".parse().unwrap();
    String::from_utf8(assemble(query, &shown(hits, total), (None, None), None, &site).unwrap().finish())
        .unwrap()
}

#[test]
fn an_answer_consists_of_rendered_summaries() {
    let summaries = summaries(&["a", "b"]);
    assert_eq!(
        assembled(" Zür\"ich\n", &hits(&summaries, &[1.5, 0.1]), 12),
        concat!(
            r#"{"query":" Zür\"ich\n","count":2,"total":12,"approximate":false,"missing_words":[],"replaced":[],"#,
            r#""did_you_mean":null,"note":null,"results":["#,
            r#"{"slug":"a","url":"https://x.org/projects/a","score":1.5},"#,
            r#"{"slug":"b","url":"https://x.org/projects/b","score":0.1}"#,
            r#"],"next_cursor":null}"#
        )
    );
}

#[test]
fn a_search_without_results_is_answered() {
    let relaxation = Relaxation {
        kind: read::search::RelaxationKind::NoMatches,
        exact: 0,
        ends_with_letter: false,
        unknown_words: vec!["xyzzy".into()],
        replacements: Vec::new(),
        matched_words: Vec::new(),
        unmatched_words: Vec::new(),
        did_you_mean: Some(read::search::Suggestion { query: "house".into(), total: 3 }),
    };
    let site = "https://x.org".parse().unwrap();
    let body = assemble("xyzzy house", &shown(&[], 0), (Some(&relaxation), Some("No.")), None, &site)
        .unwrap()
        .finish();
    assert_eq!(
        String::from_utf8(body).unwrap(),
        concat!(
            r#"{"query":"xyzzy house","count":0,"total":0,"approximate":false,"missing_words":["xyzzy"],"replaced":[],"#,
            r#""did_you_mean":"house","note":"No.","results":[],"next_cursor":null}"#
        )
    );
}

#[test]
fn one_buffer_is_enough() {
    let summaries = summaries(&["a"; 50]);
    let hits = hits(&summaries, &[1.0 / 3.0; 50]);
    let site: Site = "https://catalog.example.org/with/a/long/path".parse().unwrap();
    let (long, cursor) = ("\"".repeat(200), "c".repeat(144));
    let body = assemble(&long, &shown(&hits, 50), (None, None), Some(&cursor), &site).unwrap().finish();
    let room = json_writer::capacity(hits.iter().map(|hit| hit.summary), &site);
    assert_eq!(body.capacity(), room + 2 * 200, "the buffer did not grow");
}
