//! Threads for work that can wait: answers and commands go first when there is not enough processor for all.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// How much the threads stand back, from 0 to 19; at 5 they get about a quarter of what the others get.
const NICENESS: i32 = 5;

/// A runtime whose threads, and those that are started from them, stand back behind the others of the process.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("projections")
        .on_thread_start(|| {
            // On Linux a thread has a niceness of its own, and passes it on to the threads it starts. Elsewhere, and
            // where it is not allowed, all threads stay equal.
            let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS);
        })
        .enable_all()
        .build()
}
