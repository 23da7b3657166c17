//! Restores a withdrawn project as it was.

use schemas::event::{Event, ProjectRestored};
use schemas::slug::Slug;

use super::{Project, Rejection};

/// Restores the project requested as `slug`.
pub fn restore(project: &Project, slug: &Slug) -> Result<Vec<Event>, Rejection> {
    match project {
        Project::Absent => Err(Rejection::Unknown(slug.clone())),
        Project::Listed(listing) => Err(Rejection::NotWithdrawn(listing.slug.clone())),
        Project::Withdrawn { .. } => Ok(vec![Event::ProjectRestored(ProjectRestored {})]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::*;

    fn restoring(slug: &str) -> impl FnOnce(&Project) -> Result<Vec<Event>, Rejection> {
        let slug = slug.parse().unwrap();
        move |project| restore(project, &slug)
    }

    #[test]
    fn a_withdrawn_project_is_restored() {
        given(&[selected(), withdrawn("sold")]).when(restoring("a")).then(&[restored()]);
    }

    #[test]
    fn a_listed_project_cannot_be_restored() {
        given(&[selected(), renamed("b")])
            .when(restoring("a"))
            .then_rejected("the project “b” is not withdrawn; there is nothing to restore");
    }

    #[test]
    fn an_unknown_project_cannot_be_restored() {
        given(&[])
            .when(restoring("q"))
            .then_rejected("there is no project “q”; check the slug, or select the project first");
    }
}
