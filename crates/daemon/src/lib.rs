//! What a Unix process needs that runs for a long time: supervised tasks that end in order, signals, a word to the service
//! manager, locks on its folder, and the resources of the machine. The binary `loggia` builds its roles on it.
//!
//! 1. [`lifecycle`]: tasks of which none dies unnoticed, and a shutdown in three phases with a deadline.
//! 2. [`signals`]: SIGINT, SIGTERM and SIGHUP, for processes and for commands that clean up.
//! 3. [`service_manager`] tells the service manager the state of the process (`sd_notify(3)`).
//! 4. [`process_lock`]: a lock file that one process holds, and how others reach that process.
//! 5. [`resources`]: open files, memory, processor time, disk space, and threads of low priority.
//! 6. [`repeated_warnings`]: a layer of the log that lets each warning through once a minute.
//! 7. [`standard_error`]: writes the log and messages without ending or stopping the process when nobody reads them.
//!
//! ```
//! use std::process::ExitCode;
//! use std::time::Duration;
//!
//! use daemon::lifecycle::Lifecycle;
//! use daemon::signals::{OnSignal, Signals};
//!
//! let runtime = tokio::runtime::Runtime::new()?;
//! let signals = Signals::listen(&runtime, OnSignal::ShutDown)?;
//! let error = runtime.block_on(async {
//!     let (lifecycle, mut trigger) = Lifecycle::until_signalled(None, signals, |_signal| {});
//!     let stop = lifecycle.stop.clone();
//!     lifecycle.spawn("the server", async move { stop.cancelled().await });
//!     lifecycle.spawn("the relay", async { Err("the disk is full") });
//!     trigger.start(async { Ok::<_, daemon::lifecycle::TaskError>(()) }).await?;
//!     lifecycle.run_until_shutdown(trigger, Duration::ZERO).await
//! });
//! assert_eq!(error.unwrap_err().to_string(), "the relay failed");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod lifecycle;
pub mod process_lock;
pub mod repeated_warnings;
pub mod resources;
pub mod service_manager;
pub mod signals;
pub mod standard_error;
