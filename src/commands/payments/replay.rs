//! `loggia payments replay`: records the events of a file as if the webhook had received them. Each is applied once, however
//! often it is replayed, and their order does not matter.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use cli_output::{Output, say};
use payments::ParsedEvent;
use schemas::command::{CommandReply, PaymentDone, PaymentOutcome};
use schemas::ids::{Actor, Position};
use schemas::payment::KeptReason;
use serde::Serialize;

use super::super::keys::applied;
use super::source::{self, Source};
use crate::config::Config;
use crate::session::{Session, UNEXPECTED_REPLY};

/// The outcomes of the events.
#[derive(Debug, Default, Serialize)]
struct Report {
    applied: usize,
    already_applied: usize,
    /// Kept until their account is known.
    waiting: usize,
    /// Kept without effect, since they are of other kinds.
    kept: usize,
    /// Ignored, since they are of the other mode or of an erased account.
    ignored: usize,
    /// The lines that are not events.
    unreadable: Vec<usize>,
    /// The lines of payments and subscriptions without a known tier.
    unpriced: Vec<usize>,
    position: Position,
}

/// Sends the events, and prints their outcomes.
pub(super) async fn run(config: &Config, actor: Actor, file: &Path, output: Output) -> Result<ExitCode> {
    let sources = source::read(file)?;
    let session = Session::open(config).await?;
    let mut report = Report::default();
    let sent = send_all(config, &session, &actor, &sources, &mut report).await;
    session.close().await;
    sent?;
    applied::wait(config, report.position).await;
    output.answer(&report, || report.to_text())?;
    if !report.unpriced.is_empty() {
        say(&format!(
            "payments or subscriptions without a known tier in {}; set stripe_prices (LOGGIA_STRIPE_PRICES), or metadata \
             with the member tier",
            lines(&report.unpriced)
        ));
    }
    if report.unreadable.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!("these are not events of Stripe: {}", lines(&report.unreadable)));
    Ok(ExitCode::FAILURE)
}

async fn send_all(
    config: &Config,
    session: &Session,
    actor: &Actor,
    sources: &[Source],
    report: &mut Report,
) -> Result<()> {
    let correlation = session.command_id();
    for Source { number, text } in sources {
        let event = ParsedEvent::parse(text, &config.payments.terms(&config.access.tiers));
        if event.is_unpriced() {
            report.unpriced.push(*number);
        }
        let reason = event.kept_reason();
        if reason == Some(KeptReason::Unreadable) {
            report.unreadable.push(*number);
            if !event.has_own_id() {
                continue;
            }
        }
        let done = send(session, actor, correlation, event).await?;
        report.position = report.position.max(done.position);
        report.count(reason, done.outcome);
    }
    Ok(())
}

async fn send(
    session: &Session,
    actor: &Actor,
    correlation: schemas::ids::CommandId,
    event: ParsedEvent,
) -> Result<PaymentDone> {
    match session.send(actor.clone(), Some(correlation), event.into_command()).await? {
        CommandReply::Payment(done) => Ok(done),
        CommandReply::Failed(refusal) => bail!(
            "the write side refuses an event: {}; what came before it is done, run this again for the rest",
            refusal.detail
        ),
        _ => bail!(UNEXPECTED_REPLY),
    }
}

impl Report {
    fn count(&mut self, reason: Option<KeptReason>, outcome: PaymentOutcome) {
        match (reason, outcome) {
            (Some(KeptReason::Unreadable), _) => {}
            (Some(KeptReason::OtherMode), _) | (_, PaymentOutcome::Erased) => self.ignored += 1,
            (_, PaymentOutcome::Applied) => self.applied += 1,
            (_, PaymentOutcome::AlreadyApplied) => self.already_applied += 1,
            (_, PaymentOutcome::Waiting) => self.waiting += 1,
            (_, PaymentOutcome::Kept) => self.kept += 1,
        }
    }

    fn to_text(&self) -> String {
        let Report { applied, already_applied, waiting, kept, ignored, unreadable, .. } = self;
        format!(
            "{applied} applied, {already_applied} already applied, {waiting} waiting, {kept} kept, {ignored} ignored, {} \
             unreadable",
            unreadable.len()
        )
    }
}

fn lines(numbers: &[usize]) -> String {
    let shown: Vec<String> = numbers.iter().take(20).map(ToString::to_string).collect();
    let more = numbers.len().saturating_sub(shown.len());
    let name = if numbers.len() == 1 { "line" } else { "lines" };
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{name} {}{rest}", shown.join(", "))
}
