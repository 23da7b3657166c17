//! The imported file in batches, read on a thread of its own, so that an input that is silent, such as a terminal, blocks
//! nothing else.

use anyhow::{Result, bail};
use cli_output::say;
use import_file::{Batch, Batches, Findings, ImportFile, RecordIds, check};
use tokio::sync::mpsc;

/// What the thread sends.
enum Message {
    Batch(Box<Batch>),
    End(EndOfFile),
}

/// What is known at the end of a file.
#[derive(Debug, Default)]
pub struct EndOfFile {
    /// What is said about all records.
    pub findings: Findings,
    /// The columns, or the paths that a mapping found.
    pub columns: Vec<String>,
    /// The ids of all records; `None` without a mapping, and for a file of rejected lines.
    pub ids: Option<RecordIds>,
}

pub struct BatchReader {
    messages: mpsc::Receiver<Result<Message>>,
    end: Option<EndOfFile>,
}

impl BatchReader {
    /// Starts to read. With `checks_first` the whole file is read for the faults of its records before the first batch.
    pub fn start(file: ImportFile, checks_first: bool) -> BatchReader {
        // One batch is being sent, one waits, and one is being read.
        let (sender, messages) = mpsc::channel(1);
        // Not a thread of the runtime: the process does not wait for it to end.
        std::thread::spawn(move || {
            let send = |message| sender.blocking_send(message).is_ok();
            if let Err(error) = read(&file, checks_first, &send) {
                send(Err(error));
            }
        });
        BatchReader { messages, end: None }
    }

    /// Returns the next batch; `None` at the end of the file.
    pub async fn next(&mut self) -> Result<Option<Batch>> {
        match self.messages.recv().await.transpose()? {
            Some(Message::Batch(batch)) => Ok(Some(*batch)),
            Some(Message::End(end)) => {
                self.end = Some(end);
                Ok(None)
            }
            None => Ok(None),
        }
    }

    /// Returns what is known at the end of the file; `None` before.
    pub fn end(&self) -> Option<&EndOfFile> {
        self.end.as_ref()
    }
}

/// Reads a file, and sends its batches until nobody receives them.
fn read(file: &ImportFile, checks_first: bool, send: &impl Fn(Result<Message>) -> bool) -> Result<()> {
    if checks_first {
        let faults = check(file)?;
        if !faults.is_empty() {
            bail!("nothing is imported (--strict):\n{}", faults.join("\n"));
        }
    }
    let mut batches = Batches::open(file)?;
    batches.notes().iter().for_each(|note| say(note));
    while let Some(batch) = batches.next_batch()? {
        if !send(Ok(Message::Batch(Box::new(batch)))) {
            return Ok(());
        }
    }
    let (findings, columns, ids) = (batches.findings(), batches.columns(), batches.take_ids());
    send(Ok(Message::End(EndOfFile { findings, columns, ids })));
    Ok(())
}
