//! The reasons why a command on a project is rejected.

use schemas::import::Fault;
use schemas::slug::Slug;

/// A command on a project that breaks a rule; sending it again fails in the same way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// No project has or had this slug.
    #[error("there is no project “{0}”; check the slug, or select the project first")]
    Unknown(Slug),
    /// Another project has or had this slug; former slugs redirect to their project permanently.
    #[error("the slug “{slug}” belongs to the project “{name}”; revise that one, or choose another slug")]
    SlugTaken {
        /// The requested slug.
        slug: Slug,
        /// The name of the project that owns it.
        name: String,
    },
    /// The project is withdrawn.
    #[error("the project “{slug}” is withdrawn ({reason}); restore it first")]
    Withdrawn {
        /// Its slug.
        slug: Slug,
        /// The reason for the withdrawal.
        reason: String,
    },
    /// The project is listed, and only a withdrawn one can be restored.
    #[error("the project “{0}” is not withdrawn; there is nothing to restore")]
    NotWithdrawn(Slug),
    /// Members of the record or of the command are invalid.
    #[error("{}", in_one_sentence(.0))]
    Invalid(Vec<Fault>),
}

impl Rejection {
    /// One invalid member.
    pub(crate) fn invalid(field: &str, reason: impl Into<String>) -> Rejection {
        Rejection::Invalid(vec![Fault { field: field.to_owned(), reason: reason.into() }])
    }

    /// Returns the invalid members; a rejection of the whole command is reported for `slug`.
    pub fn into_faults(self) -> Vec<Fault> {
        match self {
            Rejection::Invalid(faults) => faults,
            Rejection::Unknown(_)
            | Rejection::SlugTaken { .. }
            | Rejection::Withdrawn { .. }
            | Rejection::NotWithdrawn(_) => {
                vec![Fault { field: "slug".into(), reason: self.to_string() }]
            }
        }
    }
}

fn in_one_sentence(faults: &[Fault]) -> String {
    let each: Vec<String> =
        faults.iter().map(|fault| format!("{} {}", fault.field, fault.reason).trim().to_owned()).collect();
    each.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_in_the_sentence() {
        let rejection = Rejection::Invalid(vec![
            Fault { field: "name".into(), reason: "is absent".into() },
            Fault { field: String::new(), reason: "is not JSON".into() },
        ]);
        assert_eq!(rejection.to_string(), "name is absent; is not JSON");
    }

    #[test]
    fn a_rejection_of_the_whole_command_is_a_fault_of_the_slug() {
        let rejection = Rejection::Withdrawn { slug: "a".parse().unwrap(), reason: "sold".into() };
        assert_eq!(
            rejection.into_faults(),
            [Fault {
                field: "slug".into(),
                reason: "the project “a” is withdrawn (sold); restore it first".into()
            }]
        );
    }
}
