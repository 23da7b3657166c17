//! Standard error, for the log and for messages to people: a line that cannot be written is counted and lost, and the process goes on.
//!
//! Its reader may end, as `head` does, its disk may be full, and its reader may stand still, as a paused terminal does. The macros of
//! the standard library panic in the first two cases and wait forever in the third.

use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// How much a pipe takes without waiting once the system calls it writable: `PIPE_BUF` of Linux; other systems have less, and then
/// merely wait for a reader.
const PIECE: usize = 4096;

/// How long a line of a service waits for a reader that stands still. The lines after it do not wait until it reads again.
const PATIENCE: Duration = Duration::from_secs(1);

static LINES: Mutex<Lines> = Mutex::new(Lines::new());

/// Prints a line for people. It is lost if it cannot be written.
pub fn print(text: &str) {
    lines().write(&mut io::stderr(), format!("{text}\n").as_bytes());
}

/// Lets lines wait at most a second for a reader that stands still: a service must not stop with it. Until this is called, as in
/// commands, they wait for as long as it takes, so that people read all of them.
pub fn do_not_wait_for_readers() {
    lines().patience = Some(PATIENCE);
}

/// Returns the number of lines that were lost since the start of the process.
pub fn lost_lines() -> u64 {
    lines().lost
}

fn lines() -> MutexGuard<'static, Lines> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lines that could not be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostLines {
    /// Their number since the last report.
    pub lines: u64,
    /// Their number since the start of the process.
    pub since_start: u64,
}

/// A writer for a log, one line with each call. Writing never fails. Once a line is written after others were lost, these are
/// reported.
#[derive(Debug, Clone, Copy)]
pub struct LogWriter {
    report: fn(LostLines),
}

impl LogWriter {
    /// Returns a writer that calls `report`, which may log, once lines can be written again.
    pub fn new(report: fn(LostLines)) -> LogWriter {
        LogWriter { report }
    }
}

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let unreported = lines().log(&mut io::stderr(), line);
        // Outside the lock, since the report is written through it.
        if let Some(lost) = unreported {
            (self.report)(lost);
            lines().reported(lost);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What was written and lost.
#[derive(Debug)]
struct Lines {
    /// How long a line waits for its reader; `None`: for as long as it takes.
    patience: Option<Duration>,
    lost: u64,
    /// How many of the lost lines are reported.
    reported: u64,
    is_reporting: bool,
    /// Whether the last line was lost.
    is_stuck: bool,
    /// Whether only the beginning of the last line was written.
    is_broken: bool,
}

impl Lines {
    const fn new() -> Lines {
        Lines { patience: None, lost: 0, reported: 0, is_reporting: false, is_stuck: false, is_broken: false }
    }

    /// Writes a line as [`Lines::write`] does; returns the lost lines that are to be reported now.
    fn log(&mut self, out: &mut (impl Write + AsFd), line: &[u8]) -> Option<LostLines> {
        self.write(out, line);
        let is_due = !self.is_stuck && !self.is_reporting && self.lost > self.reported;
        self.is_reporting |= is_due;
        is_due.then_some(LostLines { lines: self.lost - self.reported, since_start: self.lost })
    }

    /// Notes that lines were reported. If others were lost meanwhile, perhaps the report itself, all are reported again.
    fn reported(&mut self, lost: LostLines) {
        self.is_reporting = false;
        if self.lost == lost.since_start {
            self.reported = lost.since_start;
        }
    }

    /// Writes a line, after the end of one that was broken off; counts it as lost if that is impossible.
    fn write(&mut self, out: &mut (impl Write + AsFd), line: &[u8]) {
        let is_written = (!self.is_broken || self.put(out, b"\n")) && self.put(out, line);
        self.is_stuck = !is_written;
        self.lost += u64::from(!is_written);
    }

    /// Writes bytes; returns whether all of them were written.
    fn put(&mut self, out: &mut (impl Write + AsFd), mut rest: &[u8]) -> bool {
        while !rest.is_empty() {
            if !self.is_writable(out) {
                return false;
            }
            match out.write(&rest[..rest.len().min(PIECE)]) {
                Ok(0) => return false,
                Ok(written) => {
                    self.is_broken = rest[written - 1] != b'\n';
                    rest = &rest[written..];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// Waits until a piece can be written; returns whether it can, or fails without waiting.
    fn is_writable(&self, out: &impl AsFd) -> bool {
        let Some(patience) = self.patience else { return true };
        let patience = if self.is_stuck { Duration::ZERO } else { patience };
        let Ok(patience) = Timespec::try_from(patience) else { return true };
        loop {
            match poll(&mut [PollFd::new(out, PollFlags::OUT)], Some(&patience)) {
                Err(Errno::INTR) => {}
                ready => return ready != Ok(0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{PipeReader, Read};

    use super::*;

    /// A service's lines, without waiting.
    fn impatient() -> Lines {
        Lines { patience: Some(Duration::ZERO), ..Lines::new() }
    }

    /// Returns what a pipe holds, of which the writer is still open.
    fn read(reader: &mut PipeReader, length: usize) -> String {
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn lines_without_a_reader_or_room_are_lost_and_counted() {
        for patience in [None, Some(PATIENCE)] {
            let mut lines = Lines { patience, ..Lines::new() };
            let (reader, mut closed) = std::io::pipe().unwrap();
            drop(reader);
            let mut full = File::options().write(true).open("/dev/full").unwrap();
            for expected in [1, 3] {
                lines.write(&mut closed, b"one\n");
                assert_eq!((lines.lost, lines.is_stuck), (expected, true));
                lines.write(&mut full, b"two\n");
            }
            assert_eq!((lines.lost, lines.is_broken), (4, false));
        }
    }

    #[test]
    fn lost_lines_are_reported_once_when_a_line_is_written() {
        let mut lines = impatient();
        let mut full = File::options().write(true).open("/dev/full").unwrap();
        let (_reader, mut pipe) = std::io::pipe().unwrap();
        assert_eq!(lines.log(&mut pipe, b"before\n"), None);
        assert_eq!([lines.log(&mut full, b"a\n"), lines.log(&mut full, b"b\n")], [None; 2]);
        let two = LostLines { lines: 2, since_start: 2 };
        assert_eq!(lines.log(&mut pipe, b"after\n"), Some(two));
        assert_eq!(lines.log(&mut pipe, b"the report itself\n"), None);
        lines.reported(two);
        assert_eq!(lines.log(&mut pipe, b"later\n"), None);

        // The report itself is lost: the next one has all lines.
        lines.log(&mut full, b"c\n");
        let third = LostLines { lines: 1, since_start: 3 };
        assert_eq!(lines.log(&mut pipe, b"after\n"), Some(third));
        assert_eq!(lines.log(&mut full, b"the report itself\n"), None);
        lines.reported(third);
        let all = LostLines { lines: 2, since_start: 4 };
        assert_eq!(lines.log(&mut pipe, b"after\n"), Some(all));
        lines.reported(all);
        assert_eq!(lines.log(&mut pipe, b"later\n"), None);
    }

    #[test]
    fn a_reader_that_stands_still_costs_lines_and_no_wait() {
        let mut lines = impatient();
        let (mut reader, mut pipe) = std::io::pipe().unwrap();
        // More than any pipe holds: what fits is written, and the line is broken off.
        let long = vec![b'x'; 16 << 20];
        lines.write(&mut pipe, &long);
        assert_eq!((lines.lost, lines.is_stuck, lines.is_broken), (1, true, true));
        lines.write(&mut pipe, b"lost\n");
        assert_eq!(lines.lost, 2);

        let drained = std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let mut text = Vec::new();
                reader.read_to_end(&mut text).unwrap();
                text
            });
            lines.patience = None;
            lines.write(&mut pipe, b"read again\n");
            drop(pipe);
            reading.join().unwrap()
        });
        let text = String::from_utf8(drained).unwrap();
        assert_eq!(text.trim_start_matches('x'), "\nread again\n", "the line that was broken off has an end");
        assert_eq!((lines.lost, lines.is_stuck, lines.is_broken), (2, false, false));
    }

    #[test]
    fn a_line_of_a_service_is_written_whole() {
        let mut lines = impatient();
        let (mut reader, mut pipe) = std::io::pipe().unwrap();
        let line = format!("{}\n", "ü".repeat(5_000));
        lines.write(&mut pipe, line.as_bytes());
        assert_eq!((read(&mut reader, line.len()), lines.lost), (line, 0));
    }
}
