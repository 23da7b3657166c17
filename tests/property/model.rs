//! A naive model of the catalog: a list of projects and plain rules, sharing nothing with the code under test.

use std::collections::BTreeMap;

/// An editor's command on one of a few slugs, so that commands interact.
#[derive(Debug, Clone)]
pub(crate) enum EditorCommand {
    Select {
        slug: usize,
        name: usize,
    },
    Revise {
        slug: usize,
        name: usize,
    },
    Rename {
        slug: usize,
        to: usize,
    },
    Withdraw {
        slug: usize,
    },
    Restore {
        slug: usize,
    },
    Import {
        slug: usize,
        name: usize,
    },
    /// An import that says nothing but the external id of the project.
    Identify {
        slug: usize,
    },
}

/// The slugs in use.
pub(crate) const SLUGS: usize = 5;

pub(crate) fn slug(number: usize) -> String {
    format!("slug-{number}")
}

pub(crate) fn name(number: usize) -> String {
    format!("Name {number}")
}

/// A project in the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    pub(crate) slug: usize,
    pub(crate) name: usize,
    pub(crate) revision: u32,
    pub(crate) withdrawn: bool,
    /// The slug and the name of each revision, as recorded.
    pub(crate) cited: Vec<(usize, usize)>,
}

/// All projects, and the permanent owner of each slug.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) projects: Vec<Listed>,
    pub(crate) slugs: BTreeMap<usize, usize>,
}

impl Model {
    /// Applies an act if it is allowed; returns whether it was.
    pub(crate) fn command(&mut self, command: &EditorCommand) -> bool {
        match *command {
            EditorCommand::Select { slug, name } => self.select(slug, name),
            EditorCommand::Import { slug, name } => {
                if self.slugs.contains_key(&slug) {
                    self.revise(slug, name)
                } else {
                    self.select(slug, name)
                }
            }
            EditorCommand::Identify { slug } => self.find(slug).is_some_and(|project| !project.withdrawn),
            EditorCommand::Revise { slug, name } => self.revise(slug, name),
            EditorCommand::Rename { slug, to } => self.rename(slug, to),
            EditorCommand::Withdraw { slug } => self.withdraw(slug),
            EditorCommand::Restore { slug } => self.restore(slug),
        }
    }

    fn select(&mut self, slug: usize, name: usize) -> bool {
        if self.slugs.contains_key(&slug) {
            return false;
        }
        self.slugs.insert(slug, self.projects.len());
        self.projects.push(Listed { slug, name, revision: 1, withdrawn: false, cited: vec![(slug, name)] });
        true
    }

    fn revise(&mut self, slug: usize, name: usize) -> bool {
        let Some(project) = self.find(slug).filter(|project| !project.withdrawn) else { return false };
        if project.name != name {
            project.name = name;
            project.revision += 1;
            project.cited.push((project.slug, name));
        }
        true
    }

    fn rename(&mut self, slug: usize, to: usize) -> bool {
        let Some(index) = self.slugs.get(&slug).copied() else { return false };
        if self.projects[index].withdrawn || self.slugs.get(&to).is_some_and(|holder| *holder != index) {
            return false;
        }
        self.slugs.insert(to, index);
        self.projects[index].slug = to;
        true
    }

    /// All acts give the same reason, so withdrawing twice changes nothing.
    fn withdraw(&mut self, slug: usize) -> bool {
        let Some(project) = self.find(slug) else { return false };
        project.withdrawn = true;
        true
    }

    fn restore(&mut self, slug: usize) -> bool {
        let Some(project) = self.find(slug).filter(|project| project.withdrawn) else { return false };
        project.withdrawn = false;
        true
    }

    fn find(&mut self, slug: usize) -> Option<&mut Listed> {
        let index = self.slugs.get(&slug)?;
        self.projects.get_mut(*index)
    }
}
