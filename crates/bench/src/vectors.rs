//! Random vectors in clusters, as those of projects that look or read alike.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The number of dimensions of each vector.
const DIMENSIONS: usize = 256;
/// The average number of projects in a cluster.
const CLUSTER: usize = 100;
/// The distance of the projects of a cluster, in relation to the distance of clusters.
const SPREAD: f32 = 0.7;

/// Generates two vectors for each project, around the centre of its cluster.
#[derive(Debug)]
pub struct ClusteredVectors {
    random: StdRng,
    centres: Vec<[Vec<f32>; 2]>,
}

impl ClusteredVectors {
    /// Returns a generator for this number of projects.
    pub fn new(projects: usize, seed: u64) -> ClusteredVectors {
        let mut random = StdRng::seed_from_u64(seed);
        let clusters = (projects / CLUSTER).max(1);
        let centres = (0..clusters).map(|_| [normal(&mut random), normal(&mut random)]).collect();
        ClusteredVectors { random, centres }
    }

    /// Returns the two vectors of the next project, which is in a random cluster.
    pub fn next_pair(&mut self) -> [Vec<f32>; 2] {
        let centre = self.random.random_range(0..self.centres.len());
        [0, 1].map(|side| {
            let noise = normal(&mut self.random);
            self.centres[centre][side].iter().zip(noise).map(|(c, n)| c + SPREAD * n).collect()
        })
    }
}

/// Returns numbers that are approximately normally distributed: sums of four uniform ones.
fn normal(random: &mut StdRng) -> Vec<f32> {
    (0..DIMENSIONS).map(|_| (0..4).map(|_| random.random::<f32>() - 0.5).sum()).collect()
}
