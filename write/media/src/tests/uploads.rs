//! Pictures that come in pieces: in step, out of step, wrong, and never finished.

use std::fs::{self, File};
use std::sync::Arc;
use std::time::Duration;

use image::ImageFormat;
use kit::samples::{encoded, scene};
use schemas::clock::Clock;
use sha2::{Digest, Sha256};

use super::*;
use crate::uploads::{MAX_CHUNK_BYTES, Progress, UploadError, Uploads};

struct Sent {
    id: PictureId,
    bytes: Vec<u8>,
}

impl Sent {
    fn new(bytes: Vec<u8>) -> Sent {
        Sent { id: PictureId(Sha256::digest(&bytes).into()), bytes }
    }

    fn picture() -> Sent {
        Sent::new(encoded(scene(160, 120), ImageFormat::Png))
    }

    fn total(&self) -> u64 {
        u64::try_from(self.bytes.len()).unwrap()
    }

    fn chunk(&self, uploads: &Uploads, from: usize, to: usize) -> Result<Progress, UploadError> {
        uploads.chunk(self.id, u64::try_from(from).unwrap(), self.total(), &self.bytes[from..to])
    }

    fn whole(&self, uploads: &Uploads) -> Progress {
        self.chunk(uploads, 0, self.bytes.len()).unwrap()
    }
}

fn open(folder: &Path) -> Uploads {
    Uploads::open(Arc::new(MediaStore::open(folder).unwrap()), Clock::system()).unwrap()
}

fn parts(folder: &Path) -> usize {
    fs::read_dir(folder.join("incoming")).unwrap().count()
}

fn told(error: Result<Progress, UploadError>) -> String {
    error.unwrap_err().to_string()
}

#[test]
fn chunks_in_step_make_a_picture_even_over_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (sent, uploads) = (Sent::picture(), open(folder.path()));
    let end = sent.bytes.len();
    assert_eq!(sent.chunk(&uploads, 0, 1000).unwrap(), Progress::More { received: 1000 });
    let again = "begins at byte 1000: go on from there";
    for from in [0, 500, 2000] {
        let text = told(sent.chunk(&uploads, from, from + 100));
        assert_eq!(text, format!("the next chunk of picture {} {again}", sent.id));
    }
    drop(uploads);
    let uploads = open(folder.path());
    assert_eq!(sent.chunk(&uploads, 1000, 1000).unwrap(), Progress::More { received: 1000 });
    let Progress::Taken(picture) = sent.chunk(&uploads, 1000, end).unwrap() else {
        panic!("it is no picture")
    };
    assert_eq!((picture.id, picture.width, picture.height), (sent.id, 160, 120));
    assert_eq!(parts(folder.path()), 0);
    // Whatever is sent of a picture that is kept, it is kept.
    assert_eq!(sent.chunk(&uploads, 7, 9).unwrap(), Progress::Taken(picture.clone()));
    assert_eq!(uploads.chunk(sent.id, 0, u64::MAX, b"").unwrap(), Progress::Taken(picture));
}

#[test]
fn the_end_may_be_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let (sent, uploads) = (Sent::picture(), open(folder.path()));
    let end = sent.bytes.len();
    fs::write(folder.path().join("incoming").join(format!("{}.part", sent.id)), &sent.bytes).unwrap();
    assert!(
        matches!(sent.chunk(&uploads, end - 9, end), Err(UploadError::OutOfStep { expected, .. }) if expected == sent.total())
    );
    assert!(matches!(sent.chunk(&uploads, end, end).unwrap(), Progress::Taken(_)));
}

#[test]
fn what_is_wrong_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let uploads = open(folder.path());
    let svg = Sent::new(b"<svg/>".to_vec());
    assert_eq!(svg.whole(&uploads), Progress::Refused("It is SVG; send JPEG, PNG or WebP.".into()));
    let other = Sent { id: PictureId([7; 32]), ..Sent::picture() };
    let changed = "Its bytes changed on the way, or while they were sent; send it again.";
    assert_eq!(other.whole(&uploads), Progress::Refused(changed.into()));
    let id = PictureId([8; 32]);
    assert_eq!(
        uploads.chunk(id, 0, (10 << 20) + 1, b"\xff\xd8").unwrap(),
        Progress::Refused("It has 10485761 bytes; the most is 10485760 (10 MiB): send it smaller.".into())
    );
    let empty = Progress::Refused("It has no bytes; send the picture itself.".into());
    assert_eq!(uploads.chunk(id, 0, 0, b"").unwrap(), empty);
    assert_eq!(
        told(uploads.chunk(id, 0, 3, b"four")),
        "the chunk ends at byte 4 of a picture of 3 bytes: send no more than is left"
    );
    assert_eq!(
        told(uploads.chunk(id, 0, 10 << 20, &vec![0; MAX_CHUNK_BYTES + 1])),
        "the chunk has 524289 bytes; the most is 524288: send smaller ones"
    );
    assert_eq!(
        uploads.chunk(id, 0, 10 << 20, &vec![0; MAX_CHUNK_BYTES]).unwrap(),
        Progress::More { received: 524_288 }
    );
    assert_eq!(parts(folder.path()), 1);
}

#[test]
fn sixteen_are_on_their_way_and_those_given_up_make_room() {
    let folder = tempfile::tempdir().unwrap();
    let uploads = open(folder.path());
    let begin = |number| uploads.chunk(PictureId([number; 32]), 0, 100, b"begun");
    for number in 0..16 {
        assert_eq!(begin(number).unwrap(), Progress::More { received: 5 });
    }
    assert_eq!(told(begin(16)), "16 pictures are being sent already: try again when one of them has come");
    let more = uploads.chunk(PictureId([3; 32]), 5, 100, b"more").unwrap();
    assert_eq!(more, Progress::More { received: 9 });

    let old = |number: u8, minutes: u64| {
        let part = folder.path().join("incoming").join(format!("{}.part", PictureId([number; 32])));
        let file = File::options().write(true).open(part).unwrap();
        let changed = file.metadata().unwrap().modified().unwrap();
        file.set_modified(changed - Duration::from_secs(60 * minutes)).unwrap();
    };
    old(5, 58);
    assert!(matches!(begin(16), Err(UploadError::TooMany)));
    old(5, 4);
    assert_eq!(begin(16).unwrap(), Progress::More { received: 5 });
    assert_eq!(
        told(begin(3)),
        format!("the next chunk of picture {} begins at byte 9: go on from there", PictureId([3; 32]))
    );
    old(6, 61);
    drop(open(folder.path()));
    assert_eq!(parts(folder.path()), 15);
}

#[test]
fn the_last_chunk_twice_at_once_is_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let (sent, uploads) = (Sent::picture(), open(folder.path()));
    let end = sent.bytes.len();
    sent.chunk(&uploads, 0, end - 1).unwrap();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| sent.chunk(&uploads, end - 1, end))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let taken = answers.iter().filter(|answer| matches!(answer, Ok(Progress::Taken(_)))).count();
    let out = answers.iter().filter(|answer| matches!(answer, Err(UploadError::OutOfStep { .. }))).count();
    assert!(taken >= 1 && taken + out == 4, "{answers:?}");
    assert_eq!(parts(folder.path()), 0);
}
