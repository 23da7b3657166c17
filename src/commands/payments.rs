//! `loggia payments`: replays payment notices, lists payments, and moves them to another account.

mod list;
mod replay;
mod source;

use std::process::ExitCode;

use anyhow::Result;
use cli_output::Output;
use schemas::command::{AccountOutcome, Command};
use schemas::email::Email;
use schemas::payment::Provider;

use super::keys::send_and_print;
use crate::cli::PaymentsCommand;
use crate::config::Config;
use crate::session;

pub async fn run(config: &Config, command: &PaymentsCommand, output: Output) -> Result<ExitCode> {
    match command {
        PaymentsCommand::Replay { file, actor } => {
            replay::run(config, session::actor(actor)?, file, output).await
        }
        PaymentsCommand::List { email } => {
            let email: Option<Email> = email.as_deref().map(str::parse).transpose()?;
            list::run(config, email.as_ref(), output).await
        }
        PaymentsCommand::Move { payer, to, act } => {
            let command =
                Command::MovePayments { provider: Provider::Stripe, id: payer.parse()?, to: to.parse()? };
            send_and_print(config, command, act, output, moved).await
        }
    }
}

fn moved(done: &AccountOutcome) -> String {
    let keys: Vec<_> =
        done.keys.iter().map(|key| format!("{} is in tier {}", key.key_id, key.tier)).collect();
    let keys = if keys.is_empty() { "it has no key".to_owned() } else { keys.join(", ") };
    if done.changed {
        format!("the payments are moved; the keys of the account that has them now: {keys}")
    } else {
        format!("this account has the payments already: {keys}")
    }
}
