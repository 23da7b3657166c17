//! The trace of the running task, so that it need not be passed through every call.

use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::Traceparent;

thread_local! {
    static CURRENT: Cell<Option<Traceparent>> = const { Cell::new(None) };
}

/// Returns the trace of the running task. A spawned task starts without one.
pub fn current() -> Option<Traceparent> {
    CURRENT.get()
}

/// Runs a future with this trace as the current one; `None` for no trace.
pub fn scope<F: Future>(traceparent: Option<Traceparent>, future: F) -> Scope<F> {
    Scope { traceparent, future: Box::pin(future) }
}

/// A future with a current trace; see [`scope`].
pub struct Scope<F> {
    traceparent: Option<Traceparent>,
    future: Pin<Box<F>>,
}

impl<F> fmt::Debug for Scope<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("traceparent", &self.traceparent).finish_non_exhaustive()
    }
}

impl<F: Future> Future for Scope<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _previous = RestoreOnDrop(CURRENT.replace(self.traceparent));
        self.future.as_mut().poll(context)
    }
}

/// Restores the previous trace, also after a panic: the thread continues with other tasks.
struct RestoreOnDrop(Option<Traceparent>);

impl Drop for RestoreOnDrop {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::pin;
    use std::task::Waker;

    use super::*;

    fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
        pin!(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_trace_is_current_only_while_its_future_runs() {
        let one = Traceparent::new([1; 16], [1; 8], true);
        let two = Traceparent::new([2; 16], [2; 8], true);
        let inner = scope(two, async { current() });
        let outer = scope(one, async move { (current(), inner.await, current()) });
        assert_eq!(poll_once(outer), Poll::Ready((one, two, one)));
        assert_eq!(poll_once(scope(one, pending::<()>())), Poll::Pending);
        assert_eq!(current(), None);
    }

    #[test]
    fn a_panic_restores_the_previous_trace() {
        let one = Traceparent::new([1; 16], [1; 8], true);
        let panics = scope(one, async {
            ready(()).await;
            panic!("as a test")
        });
        assert!(catch_unwind(AssertUnwindSafe(|| poll_once(panics))).is_err());
        assert_eq!(current(), None);
    }
}
