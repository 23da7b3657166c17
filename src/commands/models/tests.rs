//! What the command prints.

use super::*;

fn weights(model: &'static str, state: State) -> Weights {
    Weights::of(Status { model, file: format!("w/{model}.bin").into(), state })
}

#[test]
fn the_report_has_a_row_for_the_weights_of_each_model_and_for_each_encoder() {
    let report = Report {
        weights: vec![
            weights("efficientnet-lite0", State::Ready { bytes: 3 << 20 }),
            weights("potion-base-8m", State::Missing),
        ],
        encoder: CheckedEncoder {
            name: Some("loggia-1+efficientnet-lite0".into()),
            weights: "w".into(),
            fault: None,
        },
        vectors: Some(vec![
            RecordedVectors { encoder: "loggia-1".into(), visual: 0, semantic: 2_600 },
            RecordedVectors { encoder: "my-own".into(), visual: 7, semantic: 0 },
        ]),
    };
    let expected = "\
weights             for       size      state                 licence     file
efficientnet-lite0  pictures  3.00 MiB  in place, hash right  Apache-2.0  w/efficientnet-lite0.bin
potion-base-8m      texts     -         missing               MIT         w/potion-base-8m.bin

the encoder loggia-1+efficientnet-lite0 computes vectors (weights: w)

vectors of  pictures  texts
loggia-1    0         2,600
my-own      7         0";
    assert_eq!(text(&report), expected);
    let end = |vectors| text(&Report { vectors, ..report_without_weights() });
    assert_eq!(end(None).lines().last(), Some("vectors are counted in the data folder of the write side"));
    assert_eq!(end(Some(Vec::new())).lines().last(), Some("no vectors are recorded yet"));
}

fn report_without_weights() -> Report {
    let encoder = CheckedEncoder { name: None, weights: "w".into(), fault: None };
    Report { weights: Vec::new(), encoder, vectors: None }
}

#[test]
fn what_is_missing_after_an_installation_is_named() {
    let answer = Installed {
        folder: "w".into(),
        installed: vec![weights("potion-base-8m", State::Ready { bytes: 1 })],
        missing: vec!["efficientnet-lite0"],
    };
    let expected = "potion-base-8m for texts is in place: w/potion-base-8m.bin\n\
                    efficientnet-lite0 is missing: w and the folder that was named do not have its files";
    assert_eq!(answer.text(), expected);
}
