//! Threads for work that can wait, the relay's and the projections': answers and commands go first when there is not
//! enough processor for all.

use anyhow::{Context, Result};
use nats::login::Login;
use tokio::runtime::{Builder, Handle, Runtime};

/// The niceness of the threads, from 0 to 19; at 10 they get about a tenth of the processor time of the others.
const NICENESS: i32 = 10;

/// Two projections may block theirs while they commit; what brings them events goes on beside.
const THREADS: usize = 4;

/// The threads, and a connection to NATS that is theirs: events in masses are read by them as well, and no command
/// waits behind them.
#[derive(Debug)]
pub struct Background {
    client: async_nats::Client,
    handle: Handle,
    _threads: Threads,
}

impl Background {
    /// Starts the threads and connects; where the process goes on `without` NATS, as soon as a server answers.
    pub async fn start(login: &Login, without: bool) -> Result<Background> {
        let runtime = runtime().context("the threads for work in the background cannot be started")?;
        let handle = runtime.handle().clone();
        let threads = Threads(Some(runtime));
        let login = login.clone();
        let connecting = async move {
            match without {
                true => login.connect_in_background().await.map(|(client, _)| client),
                false => login.connect().await,
            }
        };
        let client = handle.spawn(connecting).await??;
        Ok(Background { client, handle, _threads: threads })
    }

    /// Their connection.
    pub fn client(&self) -> &async_nats::Client {
        &self.client
    }

    /// Where their tasks are spawned.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// Lets the threads end by themselves when it is dropped, which async code may not wait for.
#[derive(Debug)]
struct Threads(Option<Runtime>);

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A runtime whose threads, and those that they start, have a lower priority than the others of the process.
fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name("background")
        .on_thread_start(|| {
            // On Linux a thread has a niceness of its own, and passes it on to the threads it starts. Elsewhere, and
            // where it is not allowed, all threads stay equal.
            let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS);
        })
        .enable_all()
        .build()
}
