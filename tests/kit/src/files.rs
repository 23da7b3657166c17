//! Folders that are copied, and disks that fill up.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Copies a folder with all that is in it.
pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let target = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy_folder(&entry, &target);
        } else {
            std::fs::copy(&entry, &target).unwrap();
        }
    }
}

/// A small disk in memory, unmounted when dropped.
#[derive(Debug)]
pub struct SmallDisk {
    path: PathBuf,
}

impl SmallDisk {
    /// Mounts one of this many megabytes; `None`, with a message, if this user may not mount.
    pub fn mount(path: &Path, megabytes: u32) -> Option<SmallDisk> {
        std::fs::create_dir_all(path).unwrap();
        let size = format!("size={megabytes}m");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(path).output();
        match mount {
            Ok(output) if output.status.success() => Some(SmallDisk { path: path.to_owned() }),
            other => {
                crate::skipped(format_args!(
                    "a small disk cannot be mounted here (root is needed): {other:?}"
                ));
                None
            }
        }
    }

    /// Returns the folder of the disk.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.path).status();
    }
}
