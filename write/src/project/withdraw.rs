//! Withdraws a project from the catalog; readers see the reason.

use schemas::event::{Event, ProjectWithdrawn};
use schemas::slug::Slug;
use schemas::text::normalised;

use super::{Project, Rejection};

/// The maximum length of a reason, in characters.
const MAX_REASON: usize = 2_000;

/// Withdraws the project requested as `slug`.
pub fn withdraw(project: &Project, slug: &Slug, reason: &str) -> Result<Vec<Event>, Rejection> {
    let reason = normalised(reason, MAX_REASON)
        .map_err(|fault| Rejection::invalid("reason", fault.to_string()))?
        .ok_or_else(|| Rejection::invalid("reason", "is blank; say why, in words for readers"))?;
    match project {
        Project::Withdrawn { reason: given, .. } if *given == reason => Ok(Vec::new()),
        Project::Absent | Project::Listed(_) | Project::Withdrawn { .. } => {
            project.listed(slug)?;
            Ok(vec![Event::ProjectWithdrawn(ProjectWithdrawn { reason })])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::*;

    fn withdrawing(slug: &str, reason: &str) -> impl FnOnce(&Project) -> Result<Vec<Event>, Rejection> {
        let (slug, reason) = (slug.parse().unwrap(), reason.to_owned());
        move |project| withdraw(project, &slug, &reason)
    }

    #[test]
    fn a_project_is_withdrawn_with_its_reason_in_normal_form() {
        given(&[selected()])
            .when(withdrawing("a", "  The house\r\nwas pulled down. "))
            .then(&[withdrawn("The house\nwas pulled down.")]);
    }

    #[test]
    fn a_reason_is_required() {
        given(&[selected()])
            .when(withdrawing("a", " \n"))
            .then_rejected("reason is blank; say why, in words for readers");
        given(&[selected()])
            .when(withdrawing("a", &"é".repeat(2_001)))
            .then_rejected("reason has 2001 characters; at most 2000 are allowed");
        given(&[selected()]).when(withdrawing("a", "a\u{0}")).then_rejected(
            "reason has the control character U+0000 at character 2; only newline and tab are allowed",
        );
    }

    #[test]
    fn a_project_cannot_be_withdrawn_twice() {
        let gone = [selected(), withdrawn("sold")];
        given(&gone).when(withdrawing("a", "sold")).then_nothing();
        given(&gone)
            .when(withdrawing("a", "burnt"))
            .then_rejected("the project “a” is withdrawn (sold); restore it first");
    }

    #[test]
    fn an_unknown_project_cannot_be_withdrawn() {
        given(&[])
            .when(withdrawing("q", "sold"))
            .then_rejected("there is no project “q”; check the slug, or select the project first");
    }
}
