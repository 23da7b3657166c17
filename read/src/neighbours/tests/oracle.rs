//! Computes the expected lists by comparing all pairs each time. It shares only the dot product of floats with the code under test.

use std::collections::{BTreeMap, HashMap};

use knn::{dot, unit};
use schemas::event::Event;
use schemas::vector::Vector;

use super::super::{LISTED, ListStatus};

#[derive(Debug, Default)]
pub(super) struct Oracle {
    pub(super) position: u64,
    ordinals: BTreeMap<u64, u64>,
    projects: BTreeMap<u64, Project>,
    /// Whether the vectors of a model are of bytes, on each side: as its first one.
    quantized: HashMap<(String, usize), bool>,
}

/// A model and its vector.
type Side = Option<(String, Numbers)>;

#[derive(Debug)]
enum Numbers {
    Unit(Vec<f32>),
    Whole(Vec<i64>),
}

#[derive(Debug)]
struct Project {
    is_listed: bool,
    vectors: Option<[Side; 2]>,
}

impl Oracle {
    /// Applies the next event, unless its position is one of those that were rejected.
    pub(super) fn apply(&mut self, number: u64, event: &Event, refused: &[u64]) {
        self.position += 1;
        if refused.contains(&self.position) {
            return;
        }
        if let Event::ProjectSelected(_) = event {
            self.ordinals.insert(number, self.position);
            self.projects.insert(self.position, Project { is_listed: true, vectors: None });
        }
        let vectors = if let Event::VectorsRecorded(recorded) = event {
            Some([self.side(0, recorded.visual()), self.side(1, recorded.semantic())])
        } else {
            None
        };
        let project = self.projects.get_mut(&self.ordinals[&number]).unwrap();
        project.vectors = vectors.or(project.vectors.take());
        match event {
            Event::ProjectWithdrawn(_) => project.is_listed = false,
            Event::ProjectRestored(_) => project.is_listed = true,
            _ => {}
        }
    }

    fn side(&mut self, side: usize, recorded: Option<(&str, &Vector)>) -> Side {
        let (model, vector) = recorded?;
        let is_first_quantized = || vector.as_bytes().is_some();
        let quantized = self.quantized.entry((model.to_owned(), side));
        let numbers = match *quantized.or_insert_with(is_first_quantized) {
            true => Numbers::Whole(vector.to_bytes().iter().map(|n| i64::from(*n)).collect()),
            false => Numbers::Unit(unit(&vector.to_floats())),
        };
        Some((model.to_owned(), numbers))
    }

    pub(super) fn expected(&self, ordinal: u64) -> (ListStatus, Option<Vec<u64>>) {
        match self.projects.get(&ordinal) {
            None => (ListStatus::Unknown, None),
            Some(project) if !project.is_listed => (ListStatus::Withdrawn, None),
            Some(project) if project.vectors.is_none() => (ListStatus::NoVectors, None),
            Some(project) => (ListStatus::Ready, Some(self.nearest(ordinal, project))),
        }
    }

    fn nearest(&self, ordinal: u64, project: &Project) -> Vec<u64> {
        let others = self.projects.iter().filter(|(other, by)| **other != ordinal && by.is_listed);
        let mut scored: Vec<(f32, u64)> =
            others.filter_map(|(other, by)| Some((score(project, by)?, *other))).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.into_iter().take(LISTED).map(|(_, other)| other).collect()
    }
}

fn score(a: &Project, b: &Project) -> Option<f32> {
    let sides = a.vectors.as_ref()?.iter().zip(b.vectors.as_ref()?);
    let cosine = |(a, b): (&Side, &Side)| {
        let ((a_model, a), (b_model, b)) = (a.as_ref()?, b.as_ref()?);
        (a_model == b_model).then(|| similarity(a, b))
    };
    let cosines: Vec<f32> = sides.filter_map(cosine).collect();
    (!cosines.is_empty()).then(|| cosines.iter().sum::<f32>() / cosines.len() as f32)
}

fn similarity(a: &Numbers, b: &Numbers) -> f32 {
    let product = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<i64>();
    match (a, b) {
        (Numbers::Unit(a), Numbers::Unit(b)) => dot(a, b),
        (Numbers::Whole(a), Numbers::Whole(b)) => {
            (product(a, b) as f64 / ((product(a, a) * product(b, b)) as f64).sqrt()) as f32
        }
        _ => panic!("the vectors of a model are all floats or all bytes: {a:?}, {b:?}"),
    }
}
