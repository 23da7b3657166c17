//! The trace that the work of a task belongs to, so that it need not be handed through every call.

use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::Traceparent;

thread_local! {
    static CURRENT: Cell<Option<Traceparent>> = const { Cell::new(None) };
}

/// Returns the trace that is worked for here. A task that is spawned begins without one.
pub fn current() -> Option<Traceparent> {
    CURRENT.get()
}

/// Runs a future as work for a trace, or for none.
pub fn within<F: Future>(traceparent: Option<Traceparent>, future: F) -> Within<F> {
    Within { traceparent, future: Box::pin(future) }
}

/// A future that works for a trace: [`within`].
pub struct Within<F> {
    traceparent: Option<Traceparent>,
    future: Pin<Box<F>>,
}

impl<F> fmt::Debug for Within<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Within").field("traceparent", &self.traceparent).finish_non_exhaustive()
    }
}

impl<F: Future> Future for Within<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _before = Restored(CURRENT.replace(self.traceparent));
        self.future.as_mut().poll(context)
    }
}

/// Sets what was there before, also after a panic: the thread goes on with other tasks.
struct Restored(Option<Traceparent>);

impl Drop for Restored {
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

    fn polled<F: Future>(future: F) -> Poll<F::Output> {
        pin!(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_trace_holds_while_its_future_runs_and_no_longer() {
        let one = Traceparent::new([1; 16], [1; 8], true);
        let two = Traceparent::new([2; 16], [2; 8], true);
        let inner = within(two, async { current() });
        let outer = within(one, async move { (current(), inner.await, current()) });
        assert_eq!(polled(outer), Poll::Ready((one, two, one)));
        assert_eq!(polled(within(one, pending::<()>())), Poll::Pending);
        assert_eq!(current(), None);
    }

    #[test]
    fn a_panic_leaves_no_trace_behind() {
        let one = Traceparent::new([1; 16], [1; 8], true);
        let panics = within(one, async {
            ready(()).await;
            panic!("as a test")
        });
        assert!(catch_unwind(AssertUnwindSafe(|| polled(panics))).is_err());
        assert_eq!(current(), None);
    }
}
