//! The secret of the vault: 32 bytes in a file of 64 hexadecimal digits.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use rand::TryRng;
use rand::rngs::SysRng;

use super::VaultError;

/// The default file name, beside the vault.
pub const SECRET_FILE: &str = "vault.key";

/// The most bytes that the file of a secret may have: the digits, and room for blanks and line ends around them.
const MAX_SECRET_BYTES: u64 = 1 << 10;

/// The secret from which all keys of the vault derive. It has no `Debug` form.
pub(super) struct Secret(pub(super) [u8; 32]);

/// Reads the secret; `None` if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Secret>, VaultError> {
    let text = match bounded_file::read_to_string(path, MAX_SECRET_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(VaultError::secret(path, format!("cannot be read ({error})"))),
    };
    if let Ok(metadata) = fs::metadata(path)
        && metadata.permissions().mode() & 0o077 != 0
    {
        tracing::warn!("others than its owner may read {}; take that away with chmod 600", path.display());
    }
    let wrong = "does not contain 64 hexadecimal digits, such as `openssl rand -hex 32` prints";
    parse(text.trim()).map(Some).ok_or_else(|| VaultError::secret(path, wrong))
}

/// Creates a secret, readable by its owner only. It is durable when this returns.
pub(super) fn create(path: &Path) -> Result<Secret, VaultError> {
    let mut secret = [0; 32];
    SysRng.try_fill_bytes(&mut secret).map_err(|error| {
        VaultError::unavailable(format!("the system gives no random bytes ({error}); try again"))
    })?;
    let text = HEXLOWER.encode(&secret);
    write_atomically(path, &format!("{text}\n"))
        .map_err(|error| VaultError::secret(path, format!("cannot be written ({error})")))?;
    Ok(Secret(secret))
}

/// Writes a file that only its owner may read to a temporary name and renames it, so that a crash leaves no partial file.
pub(super) fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Checks that a file may be that of a secret, whichever it is.
///
/// # Errors
///
/// Fails if it is no regular file, is too large, or cannot be read.
pub fn check_secret_file(path: &Path) -> io::Result<()> {
    bounded_file::read(path, MAX_SECRET_BYTES).map(drop)
}

fn parse(text: &str) -> Option<Secret> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?.try_into().map(Secret).ok()
}
