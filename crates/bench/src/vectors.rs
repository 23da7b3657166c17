//! Random vectors in clusters, as those of projects that look or read alike.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The number of dimensions of each vector without weights.
const DIMENSIONS: usize = 256;
/// The numbers of dimensions of the vectors of the encoders with weights: of pictures and of texts.
pub const OF_ENCODERS: [usize; 2] = [1_371, 512];
/// The average number of projects in a cluster.
const CLUSTER: usize = 100;
/// The distance of the projects of a cluster, in relation to the distance of clusters.
const SPREAD: f32 = 0.7;

/// The share of what all vectors of an encoder have in common, of pictures and of texts; measured with records and pictures of museums,
/// as the next two.
const COMMON: [f32; 2] = [0.43, 0.12];
/// How fast the variance falls from one principal direction to the next: with a power of its number and some more.
const FALL: f32 = -1.3;
const MORE: usize = 8;

/// Generates two vectors for each project, around the centre of its cluster.
#[derive(Debug)]
pub struct ClusteredVectors {
    random: StdRng,
    sides: [Side; 2],
    centres: Vec<[Vec<f32>; 2]>,
}

/// The vectors of an encoder.
#[derive(Debug)]
struct Side {
    /// The standard deviation in each principal direction, of clusters.
    deviations: Vec<f32>,
    /// What all vectors have in common, in the first direction.
    common: f32,
}

impl ClusteredVectors {
    /// Returns a generator for this number of projects, of 256 dimensions that all vary alike.
    pub fn new(projects: usize, seed: u64) -> ClusteredVectors {
        let side = || Side { deviations: vec![1.0; DIMENSIONS], common: 0.0 };
        ClusteredVectors::with_sides(projects, seed, [side(), side()])
    }

    /// Returns a generator of vectors in the shape of those of the encoders with weights: of their dimensions, and with a variance that
    /// falls from one principal direction to the next.
    pub fn of_encoders(projects: usize, seed: u64) -> ClusteredVectors {
        let sides = [0, 1].map(|side| {
            let deviation = |number: usize| ((number + MORE) as f32).powf(FALL / 2.0);
            let deviations: Vec<f32> = (0..OF_ENCODERS[side]).map(deviation).collect();
            let variance: f32 = deviations.iter().map(|n| n * n * (1.0 + SPREAD * SPREAD)).sum();
            Side { deviations, common: (variance * COMMON[side] / (1.0 - COMMON[side])).sqrt() }
        });
        ClusteredVectors::with_sides(projects, seed, sides)
    }

    fn with_sides(projects: usize, seed: u64, sides: [Side; 2]) -> ClusteredVectors {
        let mut random = StdRng::seed_from_u64(seed);
        let clusters = (projects / CLUSTER).max(1);
        let mut centre = |side: usize| sides[side].normal(&mut random);
        let centres = (0..clusters).map(|_| [centre(0), centre(1)]).collect();
        ClusteredVectors { random, sides, centres }
    }

    /// Returns the two vectors of the next project, which is in a random cluster.
    pub fn next_pair(&mut self) -> [Vec<f32>; 2] {
        let centre = self.random.random_range(0..self.centres.len());
        [0, 1].map(|number| {
            let side = &self.sides[number];
            let noise = side.normal(&mut self.random);
            let numbers = self.centres[centre][number].iter().zip(noise).map(|(c, n)| c + SPREAD * n);
            side.rotated(numbers.collect())
        })
    }
}

impl Side {
    /// Returns numbers that are approximately normally distributed: sums of four uniform ones.
    fn normal(&self, random: &mut StdRng) -> Vec<f32> {
        // The variance of four uniform numbers is a third.
        let root = 3.0_f32.sqrt();
        let mut number = || (0..4).map(|_| random.random::<f32>() - 0.5).sum::<f32>() * root;
        self.deviations.iter().map(|deviation| number() * deviation).collect()
    }

    /// Adds what all have in common, and turns the vector, so that each of its numbers takes part in all principal directions.
    fn rotated(&self, mut numbers: Vec<f32>) -> Vec<f32> {
        if self.common == 0.0 {
            return numbers;
        }
        numbers[0] += self.common;
        let part = 1 << numbers.len().ilog2();
        let last = numbers.len() - part;
        hadamard(&mut numbers[..part]);
        hadamard(&mut numbers[last..]);
        numbers
    }
}

/// Multiplies by the Hadamard matrix of this order, a power of two, as a rotation with a reflection.
fn hadamard(numbers: &mut [f32]) {
    let mut width = 1;
    while width < numbers.len() {
        for pair in numbers.chunks_exact_mut(2 * width) {
            let (left, right) = pair.split_at_mut(width);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        width *= 2;
    }
    let scale = (numbers.len() as f32).sqrt().recip();
    numbers.iter_mut().for_each(|number| *number *= scale);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_encoders_have_their_dimensions_and_clusters() {
        let mut vectors = ClusteredVectors::of_encoders(200, 7);
        let all: Vec<[Vec<f32>; 2]> = (0..40).map(|_| vectors.next_pair()).collect();
        let cosine = |a: &[f32], b: &[f32]| {
            let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            product(a, b) / (product(a, a) * product(b, b)).sqrt()
        };
        for side in [0, 1] {
            assert!(all.iter().all(|pair| pair[side].len() == OF_ENCODERS[side]));
            let others = all[1..].iter().map(|pair| cosine(&all[0][side], &pair[side]));
            let (near, far): (Vec<f32>, Vec<f32>) =
                others.partition(|cosine| *cosine > 0.55 + 0.2 * COMMON[side]);
            assert!(near.len() > 8 && far.len() > 8, "{near:?} {far:?}");
        }
    }
}
