//! Sending spans to a collector, if one is named and this build can send them.

use crate::config::Tracing;

/// How long the process waits at its end for the last spans to be sent.
#[cfg(feature = "otlp")]
const LAST_SPANS: std::time::Duration = std::time::Duration::from_secs(3);

/// Sends the spans of the process, if they are wanted. A failure loses spans and nothing else.
#[derive(Debug, Default)]
pub struct Exporting {
    #[cfg(feature = "otlp")]
    sent: Option<traces::otlp::Export>,
}

#[cfg(feature = "otlp")]
impl Exporting {
    /// Starts to send spans, if a collector is named.
    pub fn start(tracing: Tracing, _is_role: bool) -> Exporting {
        if !tracing.is_enabled {
            return Exporting::default();
        }
        match start() {
            Ok(sent) => Exporting { sent: Some(sent) },
            Err(error) => {
                tracing::warn!("no traces are sent: {error}");
                Exporting::default()
            }
        }
    }

    /// Sends the last spans, within 3 seconds.
    pub fn stop(self) {
        if let Some(sent) = self.sent {
            sent.stop(LAST_SPANS);
        }
    }
}

#[cfg(feature = "otlp")]
fn start() -> anyhow::Result<traces::otlp::Export> {
    use std::time::Duration;

    use crate::connection::{certificate_authorities, tls_client};
    use crate::process::{USER_AGENT, VERSION};

    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls_client(certificate_authorities())?)
        .http1_only()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(5))
        .timeout(Duration::from_secs(10))
        .user_agent(USER_AGENT)
        .build()?;
    Ok(traces::otlp::start("loggia", VERSION, client)?)
}

#[cfg(not(feature = "otlp"))]
impl Exporting {
    /// Warns that this build sends none, if a collector is named.
    pub fn start(tracing: Tracing, is_role: bool) -> Exporting {
        // Commands do not warn: they share their environment with other programs.
        if tracing.is_enabled && is_role {
            tracing::warn!(
                "OTEL_EXPORTER_OTLP_ENDPOINT is set, and this build sends no traces: start it with `bin/up --features otlp`, build \
                 it with bin/release, or remove the variable"
            );
        }
        Exporting::default()
    }

    /// Does nothing.
    pub fn stop(self) {}
}
