//! Moves a project to another slug; the old slug redirects to it permanently.

use schemas::event::{Event, ProjectRenamed};
use schemas::slug::Slug;

use super::{Project, Rejection};

/// Renames the project requested as `slug` to `to`; `rival` is the other project that has `to`, if any.
pub fn rename(
    project: &Project,
    slug: &Slug,
    to: &Slug,
    rival: Option<&Project>,
) -> Result<Vec<Event>, Rejection> {
    let listing = project.listed(slug)?;
    if listing.slug == *to {
        return Ok(Vec::new());
    }
    if let Some(rival) = rival.and_then(Project::listing) {
        return Err(Rejection::SlugTaken { slug: to.clone(), name: rival.record.name.clone() });
    }
    Ok(vec![Event::ProjectRenamed(ProjectRenamed { slug: to.clone() })])
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::*;

    fn renaming(slug: &str, to: &str) -> impl FnOnce(&Project) -> Result<Vec<Event>, Rejection> {
        let (slug, to) = (slug.parse().unwrap(), to.parse().unwrap());
        move |project| rename(project, &slug, &to, None)
    }

    #[test]
    fn a_project_is_renamed() {
        given(&[selected()]).when(renaming("a", "b")).then(&[renamed("b")]);
    }

    #[test]
    fn a_project_may_be_renamed_back_to_a_former_slug() {
        given(&[selected(), renamed("b")]).when(renaming("b", "a")).then(&[renamed("a")]);
    }

    #[test]
    fn renaming_to_the_current_slug_changes_nothing() {
        given(&[selected(), renamed("b")]).when(renaming("a", "b")).then_nothing();
    }

    #[test]
    fn the_slug_of_another_project_is_taken_even_if_it_is_former_or_withdrawn() {
        let (a, b) = ("a".parse().unwrap(), "b".parse().unwrap());
        for past in [vec![selected()], vec![selected(), renamed("z")], vec![selected(), withdrawn("x")]] {
            let rival = Project::replay(&past);
            given(&[selected(), renamed("b")])
                .when(|project| rename(project, &b, &a, Some(&rival)))
                .then_rejected(
                    "the slug “a” belongs to the project “First”; revise that one, or choose another slug",
                );
        }
    }

    #[test]
    fn only_a_listed_project_can_be_renamed() {
        given(&[])
            .when(renaming("q", "b"))
            .then_rejected("there is no project “q”; check the slug, or select the project first");
        given(&[selected(), withdrawn("sold")])
            .when(renaming("a", "b"))
            .then_rejected("the project “a” is withdrawn (sold); restore it first");
    }
}
