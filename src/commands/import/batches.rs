//! The imported file in batches, read on a thread of its own, so that an input that is silent, such as a terminal, blocks
//! nothing else.

use std::collections::HashMap;
use std::iter::Peekable;

use anyhow::Result;
use schemas::command::{ImportLine, LineForm, MAX_IMPORT_LINES};
use schemas::import::{Fault, WrittenPicture};
use tokio::sync::mpsc;

use super::content::Prepared;
use super::source::{SourceLine, SourceLines, open};
use crate::cli::{ImportArgs, ImportFormat};

/// The size of a batch in bytes, which bounds the memory of an import. The command client splits batches to fit into messages.
const BATCH_BYTES: usize = 4 << 20;

/// The lines of one command, and those that do not have the file's format.
#[derive(Debug, Default)]
pub struct Batch {
    /// The lines for the write side.
    pub lines: Vec<ImportLine>,
    /// The picture files that lines name, by line number.
    pub files: HashMap<u64, Vec<WrittenPicture>>,
    /// How much of a record each line is.
    pub form: LineForm,
    pub rejected: Vec<RejectedLine>,
    /// The number of characters that were repaired, by line number.
    pub repaired: Vec<(u64, u64)>,
}

#[derive(Debug)]
pub struct RejectedLine {
    pub number: u64,
    pub text: String,
    pub faults: Vec<Fault>,
}

pub struct BatchReader(mpsc::Receiver<Result<Batch>>);

impl BatchReader {
    /// Starts to read. `form` is how much of a record a line is that does not say so itself.
    pub fn start(args: &ImportArgs, format: ImportFormat, form: LineForm) -> BatchReader {
        // One batch is being sent, one waits, and one is being read.
        let (sender, receiver) = mpsc::channel(1);
        let args = args.clone();
        // Not a thread of the runtime: the process does not wait for it to end.
        std::thread::spawn(move || {
            let mut lines = match open(&args, format) {
                Ok(lines) => lines.peekable(),
                Err(error) => return drop(sender.blocking_send(Err(error))),
            };
            loop {
                let batch = next_batch(&mut lines, form, args.repair_text);
                let is_last = match &batch {
                    Ok(batch) if batch.lines.is_empty() && batch.rejected.is_empty() => return,
                    read => read.is_err(),
                };
                if sender.blocking_send(batch).is_err() || is_last {
                    return;
                }
            }
        });
        BatchReader(receiver)
    }

    /// Returns the next batch; `None` at the end of the file.
    pub async fn next(&mut self) -> Result<Option<Batch>> {
        self.0.recv().await.transpose()
    }
}

fn next_batch(lines: &mut Peekable<SourceLines>, form: LineForm, repairs: bool) -> Result<Batch> {
    let mut batch = Batch { form, ..Batch::default() };
    let mut bytes = 0;
    while batch.lines.len() + batch.rejected.len() < MAX_IMPORT_LINES && bytes < BATCH_BYTES {
        if let Some(Ok(SourceLine::Record { form: own, .. })) = lines.peek() {
            let form = own.unwrap_or(form);
            if !batch.lines.is_empty() && form != batch.form {
                break;
            }
            batch.form = form;
        }
        match lines.next().transpose()? {
            None => break,
            Some(SourceLine::Record { number, content, .. }) => {
                let Prepared { text, files, repaired } = content.prepare(repairs);
                batch.repaired.extend((repaired > 0).then_some((number, repaired)));
                batch.files.extend((!files.is_empty()).then_some((number, files)));
                bytes += text.len();
                batch.lines.push(ImportLine { number, text });
            }
            Some(SourceLine::Unreadable { number, text, reason }) => {
                bytes += text.len();
                let faults = vec![Fault { field: String::new(), reason }];
                batch.rejected.push(RejectedLine { number, text, faults });
            }
        }
    }
    Ok(batch)
}
