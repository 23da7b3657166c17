//! Given-when-then tests of the use cases of an aggregate.

use std::fmt::{Debug, Display};

/// The aggregate before the command.
pub(crate) struct Given<Aggregate>(pub(crate) Aggregate);

impl<Aggregate> Given<Aggregate> {
    pub(crate) fn when<Event, Rejection>(
        &self,
        act: impl FnOnce(&Aggregate) -> Result<Vec<Event>, Rejection>,
    ) -> Outcome<Event, Rejection> {
        Outcome(act(&self.0))
    }
}

/// The decided events.
pub(crate) struct Outcome<Event, Rejection>(Result<Vec<Event>, Rejection>);

impl<Event: Clone + Debug + PartialEq, Rejection: Debug + Display + PartialEq> Outcome<Event, Rejection> {
    #[track_caller]
    pub(crate) fn then(self, events: &[Event]) {
        assert_eq!(self.0, Ok(events.to_vec()));
    }

    #[track_caller]
    pub(crate) fn then_nothing(self) {
        self.then(&[]);
    }

    #[track_caller]
    pub(crate) fn then_rejected(self, sentence: &str) {
        assert_eq!(self.0.unwrap_err().to_string(), sentence);
    }
}
