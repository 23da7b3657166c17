//! Uploads in chunks: in order, at wrong offsets, invalid, and never completed.

use std::fs::{self, File};
use std::sync::Arc;
use std::time::Duration;

use image::ImageFormat;
use kit::samples::{encoded, scene};
use schemas::clock::Clock;
use sha2::{Digest, Sha256};

use super::*;
use crate::uploads::{MAX_CHUNK_BYTES, Progress, UploadError, Uploads};

struct Upload {
    id: PictureId,
    bytes: Vec<u8>,
}

impl Upload {
    fn new(bytes: Vec<u8>) -> Upload {
        Upload { id: PictureId(Sha256::digest(&bytes).into()), bytes }
    }

    fn picture() -> Upload {
        Upload::new(encoded(scene(160, 120), ImageFormat::Png))
    }

    fn total(&self) -> u64 {
        u64::try_from(self.bytes.len()).unwrap()
    }

    fn chunk(&self, uploads: &Uploads, from: usize, to: usize) -> Result<Progress, UploadError> {
        uploads.add_chunk(self.id, u64::try_from(from).unwrap(), self.total(), &self.bytes[from..to])
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

fn error(result: Result<Progress, UploadError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn chunks_in_order_make_a_picture_even_across_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (upload, uploads) = (Upload::picture(), open(folder.path()));
    let end = upload.bytes.len();
    assert_eq!(upload.chunk(&uploads, 0, 1000).unwrap(), Progress::More(1000));
    let again = "begins at byte 1000; continue from there";
    for from in [0, 500, 2000] {
        let text = error(upload.chunk(&uploads, from, from + 100));
        assert_eq!(text, format!("the next chunk of picture {} {again}", upload.id));
    }
    drop(uploads);
    let uploads = open(folder.path());
    assert_eq!(upload.chunk(&uploads, 1000, 1000).unwrap(), Progress::More(1000));
    let Progress::Stored(picture) = upload.chunk(&uploads, 1000, end).unwrap() else {
        panic!("it is not a picture")
    };
    assert_eq!((picture.id, picture.width, picture.height), (upload.id, 160, 120));
    assert_eq!(parts(folder.path()), 0);
    // Any chunk of a stored picture is answered with the picture.
    assert_eq!(upload.chunk(&uploads, 7, 9).unwrap(), Progress::Stored(picture.clone()));
    assert_eq!(uploads.add_chunk(upload.id, 0, u64::MAX, b"").unwrap(), Progress::Stored(picture));
}

#[test]
fn the_last_step_can_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let (upload, uploads) = (Upload::picture(), open(folder.path()));
    let end = upload.bytes.len();
    fs::write(folder.path().join("incoming").join(format!("{}.part", upload.id)), &upload.bytes).unwrap();
    assert!(
        matches!(upload.chunk(&uploads, end - 9, end), Err(UploadError::WrongOffset { expected, .. }) if expected == upload.total())
    );
    assert!(matches!(upload.chunk(&uploads, end, end).unwrap(), Progress::Stored(_)));
}

#[test]
fn invalid_uploads_are_refused_and_leave_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let uploads = open(folder.path());
    let svg = Upload::new(b"<svg/>".to_vec());
    assert_eq!(svg.whole(&uploads), Progress::Refused("It is SVG; send JPEG, PNG or WebP.".into()));
    let other = Upload { id: PictureId([7; 32]), ..Upload::picture() };
    let changed = "Its bytes changed on the way, or while they were sent; send it again.";
    assert_eq!(other.whole(&uploads), Progress::Refused(changed.into()));
    let id = PictureId([8; 32]);
    assert_eq!(
        uploads.add_chunk(id, 0, (10 << 20) + 1, b"\xff\xd8").unwrap(),
        Progress::Refused("It has 10485761 bytes; the most is 10485760 (10 MiB): send it smaller.".into())
    );
    let empty = Progress::Refused("It has no bytes; send the picture itself.".into());
    assert_eq!(uploads.add_chunk(id, 0, 0, b"").unwrap(), empty);
    assert_eq!(
        error(uploads.add_chunk(id, 0, 3, b"four")),
        "the chunk ends at byte 4 of a picture of 3 bytes: send no more than is left"
    );
    assert_eq!(
        error(uploads.add_chunk(id, 0, 10 << 20, &vec![0; MAX_CHUNK_BYTES + 1])),
        "the chunk has 524289 bytes; the most is 524288: send smaller ones"
    );
    assert_eq!(
        uploads.add_chunk(id, 0, 10 << 20, &vec![0; MAX_CHUNK_BYTES]).unwrap(),
        Progress::More(524_288)
    );
    assert_eq!(parts(folder.path()), 1);
}

#[test]
fn at_most_sixteen_uploads_are_active_and_expired_ones_make_room() {
    let folder = tempfile::tempdir().unwrap();
    let uploads = open(folder.path());
    let begin = |number| uploads.add_chunk(PictureId([number; 32]), 0, 100, b"begun");
    for number in 0..16 {
        assert_eq!(begin(number).unwrap(), Progress::More(5));
    }
    assert_eq!(error(begin(16)), "16 pictures are being sent already: try again when one of them has come");
    let more = uploads.add_chunk(PictureId([3; 32]), 5, 100, b"more").unwrap();
    assert_eq!(more, Progress::More(9));

    let old = |number: u8, minutes: u64| {
        let part = folder.path().join("incoming").join(format!("{}.part", PictureId([number; 32])));
        let file = File::options().write(true).open(part).unwrap();
        let changed = file.metadata().unwrap().modified().unwrap();
        file.set_modified(changed - Duration::from_secs(60 * minutes)).unwrap();
    };
    old(5, 58);
    assert!(matches!(begin(16), Err(UploadError::TooManyUploads)));
    old(5, 4);
    assert_eq!(begin(16).unwrap(), Progress::More(5));
    assert_eq!(
        error(begin(3)),
        format!("the next chunk of picture {} begins at byte 9; continue from there", PictureId([3; 32]))
    );
    old(6, 61);
    drop(open(folder.path()));
    assert_eq!(parts(folder.path()), 15);
}

#[test]
fn concurrent_last_chunks_store_one_picture() {
    let folder = tempfile::tempdir().unwrap();
    let (upload, uploads) = (Upload::picture(), open(folder.path()));
    let end = upload.bytes.len();
    upload.chunk(&uploads, 0, end - 1).unwrap();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| upload.chunk(&uploads, end - 1, end))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let stored = answers.iter().filter(|answer| matches!(answer, Ok(Progress::Stored(_)))).count();
    let wrong =
        answers.iter().filter(|answer| matches!(answer, Err(UploadError::WrongOffset { .. }))).count();
    assert!(stored >= 1 && stored + wrong == 4, "{answers:?}");
    assert_eq!(parts(folder.path()), 0);
}
