//! Encodes replies for one NATS message: the faults in a reply that is too long are shortened.

use schemas::command::{CommandFailure, CommandReply, LineOutcome, LineResult};
use schemas::import::Fault;

/// The number of bytes of a message that the reply must leave free.
const RESERVE: usize = 4 << 10;

/// The length to which texts are cut when a reply is shortened, in characters.
const CUT: usize = 200;

/// Encodes a reply in at most `room` bytes.
pub(super) fn encode(reply: CommandReply, room: usize) -> Vec<u8> {
    let bytes = json(&reply);
    let room = room.saturating_sub(RESERVE);
    if bytes.len() <= room {
        return bytes;
    }
    let short = match reply {
        CommandReply::Imported { position, lines } => {
            let each = room / lines.len().max(1);
            CommandReply::Imported {
                position,
                lines: lines.into_iter().map(|line| shortened(line, each)).collect(),
            }
        }
        CommandReply::Failed(failure) => CommandReply::Failed(CommandFailure {
            detail: cut(&failure.detail),
            faults: first_faults(failure.faults, room / 2),
            ..failure
        }),
        CommandReply::Project(_)
        | CommandReply::Account(_)
        | CommandReply::PictureErased(_)
        | CommandReply::Payment(_)
        | CommandReply::Accepted
        | CommandReply::Link { .. }
        | CommandReply::LinkDetails(_) => reply,
    };
    json(&short)
}

fn shortened(line: LineOutcome, room: usize) -> LineOutcome {
    let result = match line.result {
        LineResult::Rejected { faults } => LineResult::Rejected { faults: first_faults(faults, room) },
        result @ (LineResult::New { .. } | LineResult::Changed { .. } | LineResult::Same { .. }) => result,
    };
    LineOutcome { number: line.number, result }
}

/// Returns the first faults that fit, and one that counts the rest.
fn first_faults(faults: Vec<Fault>, room: usize) -> Vec<Fault> {
    let (all, mut kept, mut used) = (faults.len(), Vec::new(), 0);
    for fault in faults {
        let fault = Fault { field: cut(&fault.field), reason: cut(&fault.reason) };
        used += json(&fault).len() + CUT;
        if used > room && !kept.is_empty() {
            break;
        }
        kept.push(fault);
    }
    let left_out = all - kept.len();
    if left_out > 0 {
        kept.push(Fault { field: String::new(), reason: format!("has {left_out} further faults") });
    }
    kept
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(CUT) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

/// Returns the JSON of plain data, which can always be serialised.
fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemas::ids::Position;

    fn rejected(number: u64, faults: usize) -> LineOutcome {
        let fault = |n| Fault { field: format!("details[{n}].label"), reason: "is absent ".repeat(30) };
        LineOutcome { number, result: LineResult::Rejected { faults: (0..faults).map(fault).collect() } }
    }

    #[test]
    fn a_reply_that_fits_is_not_changed() {
        let reply = CommandReply::Imported { position: Position(1), lines: vec![rejected(1, 20)] };
        let encoded = encode(reply.clone(), 1 << 20);
        assert_eq!(serde_json::from_slice::<CommandReply>(&encoded).unwrap(), reply);
    }

    #[test]
    fn the_maximum_number_of_lines_with_many_faults_fits() {
        let lines =
            (1..=schemas::command::MAX_IMPORT_LINES as u64).map(|number| rejected(number, 8)).collect();
        let encoded = encode(CommandReply::Imported { position: Position(1), lines }, 1 << 20);
        assert!(encoded.len() <= 1 << 20, "{}", encoded.len());
        let CommandReply::Imported { lines, .. } = serde_json::from_slice(&encoded).unwrap() else {
            panic!()
        };
        assert_eq!(lines.len(), schemas::command::MAX_IMPORT_LINES);
        let LineResult::Rejected { faults } = &lines[0].result else { panic!() };
        assert_eq!(faults[0].field, "details[0].label");
        assert!(faults.last().unwrap().reason.ends_with("further faults"), "{faults:?}");
    }

    #[test]
    fn the_faults_of_one_record_are_shortened_too() {
        let LineResult::Rejected { faults } = rejected(1, 5_000).result else { panic!() };
        let detail = "x".repeat(2 << 20);
        let failure = CommandFailure { kind: schemas::command::FailureKind::Rejected, detail, faults };
        let encoded = encode(CommandReply::Failed(failure), 1 << 20);
        assert!(encoded.len() <= 1 << 20, "{}", encoded.len());
        let CommandReply::Failed(failure) = serde_json::from_slice(&encoded).unwrap() else { panic!() };
        assert_eq!(failure.detail.chars().count(), CUT + 1);
    }
}
