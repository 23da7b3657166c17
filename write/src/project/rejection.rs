//! Why an editor's act is not possible.

use schemas::import::Fault;
use schemas::slug::Slug;

/// The catalog's rules speak against it: sending the same command again will not help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// No project is or was at this slug.
    #[error("there is no project “{slug}”; check the slug, or select the project first")]
    Unknown {
        /// The slug that was asked for.
        slug: Slug,
    },
    /// Another project is or was at this slug, and old slugs lead to their project for ever.
    #[error("the slug “{slug}” belongs to the project “{name}”; revise that one, or choose another slug")]
    SlugTaken {
        /// The slug that was wanted.
        slug: Slug,
        /// The name of the project that has it.
        name: String,
    },
    /// The project is not in the catalog at present.
    #[error("the project “{slug}” is withdrawn ({reason}); restore it first")]
    Withdrawn {
        /// Where it was found.
        slug: Slug,
        /// Why it left.
        reason: String,
    },
    /// Only what is withdrawn can be restored.
    #[error("the project “{slug}” is not withdrawn; there is nothing to restore")]
    NotWithdrawn {
        /// Where it is found.
        slug: Slug,
    },
    /// Members of the record or of the command are wrong.
    #[error("{}", in_one_sentence(.0))]
    Faulty(Vec<Fault>),
}

impl Rejection {
    /// One member that is wrong.
    pub(crate) fn fault(field: &str, reason: impl Into<String>) -> Rejection {
        Rejection::Faulty(vec![Fault { field: field.to_owned(), reason: reason.into() }])
    }

    /// What is wrong, member by member; a rejection of the whole stands under `slug`.
    pub fn into_faults(self) -> Vec<Fault> {
        match self {
            Rejection::Faulty(faults) => faults,
            Rejection::Unknown { .. }
            | Rejection::SlugTaken { .. }
            | Rejection::Withdrawn { .. }
            | Rejection::NotWithdrawn { .. } => {
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
        let rejection = Rejection::Faulty(vec![
            Fault { field: "name".into(), reason: "is absent".into() },
            Fault { field: String::new(), reason: "is not JSON".into() },
        ]);
        assert_eq!(rejection.to_string(), "name is absent; is not JSON");
    }

    #[test]
    fn a_rejection_of_the_whole_is_a_fault_of_the_slug() {
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
