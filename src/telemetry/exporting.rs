//! Spans on their way to a collector, where one is named and this build can send them.

use crate::config::Tracing;

/// How long the process waits at its end for the last spans to leave.
#[cfg(feature = "otlp")]
const LAST: std::time::Duration = std::time::Duration::from_secs(3);

/// Sends the spans of the process, if they are wanted. Whatever fails costs spans only.
#[derive(Debug, Default)]
pub struct Exporting {
    #[cfg(feature = "otlp")]
    sent: Option<traces::otlp::Export>,
}

#[cfg(feature = "otlp")]
impl Exporting {
    /// Sends spans from now on, where a collector is named.
    pub fn start(tracing: Tracing, _is_role: bool) -> Exporting {
        if !tracing.is_wanted {
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

    /// Lets the last spans leave, within a bound.
    pub fn stop(self) {
        if let Some(sent) = self.sent {
            sent.stop(LAST);
        }
    }
}

#[cfg(feature = "otlp")]
fn start() -> anyhow::Result<traces::otlp::Export> {
    use std::time::Duration;

    use crate::tls;

    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls::trusting(tls::authorities())?)
        .http1_only()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(5))
        .timeout(Duration::from_secs(10))
        .user_agent(concat!("Loggia/", env!("CARGO_PKG_VERSION")))
        .build()?;
    Ok(traces::otlp::start("loggia", crate::build_info::VERSION, client)?)
}

#[cfg(not(feature = "otlp"))]
impl Exporting {
    /// Says that this build sends none, where a collector is named.
    pub fn start(tracing: Tracing, is_role: bool) -> Exporting {
        // The answers of commands stay free of it: they share an environment with much else.
        if tracing.is_wanted && is_role {
            tracing::warn!(
                "OTEL_EXPORTER_OTLP_ENDPOINT is set, and this build sends no traces: build it with the feature otlp, or take \
                 the variable away"
            );
        }
        Exporting::default()
    }

    /// Does nothing.
    pub fn stop(self) {}
}
