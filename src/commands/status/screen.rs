//! The state as text.

use cli_output::{bytes, count};
use jiff::Timestamp;
use schemas::control::{NodeSummary, ProjectionStatus};
use schemas::subject;

use super::{LedgerStatus, Process, Status, Verdict};

/// Returns the state on one screen; with `check`, for a monitor, with the verdict in the first line.
pub(super) fn screen(status: &Status, check: bool) -> String {
    let mut text = if check { verdict(status) } else { String::new() };
    text += &format!("data folder  {}, loggia {}\n", status.data, status.version);
    text += &processes(status);
    text += &stores(status);
    for projection in &status.projections {
        text += &projection_line(projection);
    }
    for node in &status.nodes {
        text += &node_line(node);
    }
    if let Some(usage) = &status.usage {
        text += &usage.line();
    }
    if let Some(spool) = &status.spool
        && (spool.calls, spool.bytes) != (0, 0)
    {
        text += &format!("spool        {} calls, {} here\n", count(spool.calls), bytes(spool.bytes));
    }
    if let Some(disk) = &status.disk {
        text += &format!("disk         {} of {} free\n", bytes(disk.free), bytes(disk.total));
    }
    for (what, sentences) in [("problem", &status.problems), ("warning", &status.warnings)] {
        for sentence in sentences {
            text += &format!("{what}      {sentence}\n");
        }
    }
    text.trim_end().to_owned()
}

fn verdict(status: &Status) -> String {
    let all: Vec<&str> = status.problems.iter().chain(&status.warnings).map(String::as_str).collect();
    match status.verdict {
        Verdict::Ok => "OK\n".to_owned(),
        Verdict::Warning => format!("WARNING: {}\n", all.join("; ")),
        Verdict::Problem => format!("PROBLEM: {}\n", all.join("; ")),
    }
}

fn processes(status: &Status) -> String {
    let mut text = match (status.running, &status.api) {
        (Some(pid), Some(api)) => format!("process      {pid}, API on {api}\n"),
        (Some(pid), None) => format!("process      {pid}\n"),
        (None, _) => "process      none is running\n".to_owned(),
    };
    for Process { pid, parts, since, uptime_seconds, role, version, .. } in &status.processes {
        let role = role.as_ref().map_or_else(|| parts.join(" and "), Clone::clone);
        let version = version.as_ref().map(|version| format!(", version {version}")).unwrap_or_default();
        let uptime = match (since, uptime_seconds) {
            (Some(since), Some(seconds)) => format!(", since {since:.0} ({})", duration(*seconds)),
            _ => String::new(),
        };
        text += &format!("role         {role}, process {pid}{version}{uptime}\n");
    }
    text
}

/// Returns a duration in its two largest units.
fn duration(seconds: u64) -> String {
    match (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min {} s", seconds % 60),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

fn stores(status: &Status) -> String {
    let mut text = String::new();
    if let Some(store) = &status.store {
        let hash = &store.hash[..16];
        text += &format!(
            "event store  position {}, {}, hash {hash}…\n",
            count(store.position.0),
            bytes(store.bytes)
        );
    }
    if let Some(keeper) = &status.keeper {
        text += &format!("keeper       {}\n", keeper.short());
    }
    if let Some(ledger) = &status.ledger {
        let LedgerStatus { position, hash, bytes: size, month, calls } = ledger;
        let (position, hash, calls) = (count(position.0), &hash[..16], count(*calls));
        text += &format!(
            "ledger       position {position}, {}, hash {hash}…, {calls} calls in {month}\n",
            bytes(*size)
        );
    }
    if let Some(nats) = &status.nats {
        let (position, messages) = (count(nats.position.0), count(nats.messages));
        text += &format!(
            "NATS         {} {}, stream {} at {position}, {messages} messages, {}\n",
            nats.server,
            nats.version,
            subject::EVENTS,
            bytes(nats.bytes)
        );
        text += &match nats.lag {
            0 => "relay        has published the whole log\n".to_owned(),
            lag => format!("relay        {} events behind the log\n", count(lag)),
        };
    }
    text
}

fn node_line(node: &NodeSummary) -> String {
    let NodeSummary { node, role, version, settings, ready, reason, lag, spool, waiting } = node;
    let mut line = format!("{role:<12} {node}, version {version}, settings {settings}");
    if let Some(lag) = lag {
        line += &format!(", lag {}", count(*lag));
    }
    if let Some(spool) = spool {
        line += &format!(", spool {}", count(*spool));
    }
    if let Some(waiting) = waiting.filter(|waiting| *waiting > 0) {
        line += &format!(", waiting {}", count(waiting));
    }
    match (ready, reason) {
        (true, _) => line + ", ready\n",
        (false, None) => line + ", not ready\n",
        (false, Some(reason)) => format!("{line}, not ready: {reason}\n"),
    }
}

fn projection_line(projection: &ProjectionStatus) -> String {
    let ProjectionStatus {
        name,
        generation,
        position,
        lag,
        heartbeat,
        parked,
        parked_beyond,
        quarantined,
        skipped,
        bytes: size,
    } = projection;
    let last_heartbeat = heartbeat.map_or("never".to_owned(), |at: Timestamp| format!("{at:.0}"));
    let mut line = format!(
        "{name:<12} position {}, lag {}, {}, generation {generation}, last heartbeat {last_heartbeat}\n",
        count(position.0),
        count(*lag),
        bytes(*size)
    );
    if let Some(reason) = quarantined {
        line += &format!("{:13}quarantined, and rebuilt from the log: {reason}\n", "");
    }
    if *skipped > 0 {
        line += &format!("{:13}{} events of a newer version were skipped\n", "", count(*skipped));
    }
    for event in parked {
        line += &format!("{:13}parked: {} {} {}\n", "", event.position, event.kind, event.reason);
    }
    if *parked_beyond > 0 {
        line += &format!("{:13}parked: {} more\n", "", count(*parked_beyond));
    }
    line
}

#[cfg(test)]
mod tests;
