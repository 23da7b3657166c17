//! The keys of the users. A seed is for the processes of its user only; servers have the public keys.

use std::path::{Path, PathBuf};

use nkeys::{KeyPair, KeyPairType};

use super::files::{File, read};
use super::{ConfigError, USERS};
use crate::user::User;

/// The users with their keys.
pub(super) struct Users {
    users: Vec<UserKey>,
}

struct UserKey {
    user: User,
    seed: String,
    public: String,
}

impl Users {
    /// Returns the users with their keys in the folder, or new keys.
    pub(super) fn of(folder: &Path, users: &[User]) -> Result<Users, ConfigError> {
        let users = users.iter().map(|user| {
            let path = folder.join(path_of(user));
            let pair = match read(&path)? {
                Some(text) => parse_seed(&path, &text)?,
                None => KeyPair::new_user(),
            };
            let seed = pair.seed().map_err(|error| ConfigError::User(error.to_string()))?;
            Ok(UserKey { user: user.clone(), seed, public: pair.public_key() })
        });
        Ok(Users { users: users.collect::<Result<_, ConfigError>>()? })
    }

    /// Returns the files with the seeds.
    pub(super) fn files(&self) -> Vec<File> {
        let file = |key: &UserKey| File::secret(path_of(&key.user), format!("{}\n", key.seed));
        self.users.iter().map(file).collect()
    }

    /// Returns each user with its public key.
    pub(super) fn public_keys(&self) -> impl Iterator<Item = (&User, &str)> {
        self.users.iter().map(|key| (&key.user, key.public.as_str()))
    }
}

fn path_of(user: &User) -> PathBuf {
    Path::new(USERS).join(format!("{}.nk", user.name))
}

fn parse_seed(path: &Path, text: &str) -> Result<KeyPair, ConfigError> {
    let pair = KeyPair::from_seed(text.trim()).ok();
    pair.filter(|pair| pair.key_pair_type() == KeyPairType::User).ok_or_else(|| ConfigError::Key {
        path: path.to_owned(),
        reason: "contains no seed of a NATS user".to_owned(),
    })
}
