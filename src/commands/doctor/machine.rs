//! What the machine gives: modes of files, descriptors, the clock, certificates.

use jiff::{SignedDuration, Timestamp};

use super::Findings;
use crate::config::Config;
use crate::data_folder::DataFolder;
use crate::descriptors;
use crate::upkeep::certificate_ends;

/// How long before its end a certificate should be replaced.
const RENEWAL: SignedDuration = SignedDuration::from_hours(30 * 24);
/// A node of the default settings may have as many connections, and its own files.
const FILES: u64 = 10_256;

/// Looks at all of it.
pub(super) fn look(config: &Config, now: Timestamp, findings: &mut Findings) {
    for path in DataFolder::new(&config.server.data).open_to_others() {
        let path = path.display();
        findings.warn(
            "folder",
            format!("{path} is open to other users of this machine; close it with `chmod go= {path}`"),
        );
    }
    match descriptors::files() {
        Ok(files) if files < FILES => findings.warn(
            "ulimit",
            format!("a process may have {files} files open, and a node serves fewer connections than 10,000 then; raise the limit (ulimit -n, LimitNOFILE, ulimits)"),
        ),
        // That they are too few to start at all is a finding of the settings.
        _ => {}
    }
    if !config.process.clock_offset.0.is_zero() {
        findings
            .warn("clock_offset", "the clock is set off, as for rehearsals; unset it where calls are real");
    }
    if let Some(path) = &config.nats.ca {
        match certificate_ends(path) {
            Ok(ends) => certificates(&path.display().to_string(), &ends, now, findings),
            Err(error) => {
                findings.critical("nats_ca", format!("{} cannot be read: {error:#}", path.display()))
            }
        }
    }
}

fn certificates(file: &str, ends: &[Timestamp], now: Timestamp, findings: &mut Findings) {
    let renewal = "make others with `loggia nats config`";
    for end in ends {
        if *end <= now {
            findings.critical("nats_ca", format!("a certificate in {file} ended on {end:.0}; {renewal}"));
        } else if end.duration_since(now) < RENEWAL {
            findings.warn("nats_ca", format!("a certificate in {file} ends on {end:.0}; {renewal}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, Verdict};
    use super::*;

    #[test]
    fn a_certificate_is_told_of_before_it_ends() {
        let end: Timestamp = "2026-12-24T12:00:00Z".parse().unwrap();
        let told = |days: i64| {
            let mut findings = Findings::default();
            certificates("ca.pem", &[end], end - SignedDuration::from_hours(24 * days), &mut findings);
            findings
                .0
                .into_iter()
                .map(|Finding { verdict, message, .. }| (verdict, message))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(31), []);
        let renewal = "make others with `loggia nats config`";
        assert_eq!(
            told(29),
            [(Verdict::Warning, format!("a certificate in ca.pem ends on {end:.0}; {renewal}"))]
        );
        assert_eq!(
            told(0),
            [(Verdict::Critical, format!("a certificate in ca.pem ended on {end:.0}; {renewal}"))]
        );
    }
}
