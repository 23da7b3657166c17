//! The users: one a role, each with a seed that only its processes have. Servers know the public keys.

use std::path::{Path, PathBuf};

use nkeys::{KeyPair, KeyPairType};
use schemas::nats_role::NatsRole;

use super::files::{File, read};
use super::{ConfigError, USERS};

/// All users.
pub(super) struct Users {
    users: Vec<User>,
}

struct User {
    role: NatsRole,
    seed: String,
    public: String,
}

impl Users {
    /// Those that the folder has, and new ones for roles that it has none for.
    pub(super) fn of(folder: &Path) -> Result<Users, ConfigError> {
        let users = NatsRole::ALL.map(|role| {
            let path = folder.join(place(role));
            let pair = match read(&path)? {
                Some(text) => known(&path, &text)?,
                None => KeyPair::new_user(),
            };
            let seed = pair.seed().map_err(|error| ConfigError::User(error.to_string()))?;
            Ok(User { role, seed, public: pair.public_key() })
        });
        Ok(Users { users: users.into_iter().collect::<Result<_, ConfigError>>()? })
    }

    /// Their seeds.
    pub(super) fn files(&self) -> Vec<File> {
        let file = |user: &User| File::secret(place(user.role), format!("{}\n", user.seed));
        self.users.iter().map(file).collect()
    }

    /// Each role with its public key.
    pub(super) fn public_keys(&self) -> impl Iterator<Item = (NatsRole, &str)> {
        self.users.iter().map(|user| (user.role, user.public.as_str()))
    }
}

fn place(role: NatsRole) -> PathBuf {
    Path::new(USERS).join(format!("{role}.nk"))
}

fn known(path: &Path, text: &str) -> Result<KeyPair, ConfigError> {
    let pair = KeyPair::from_seed(text.trim()).ok();
    pair.filter(|pair| pair.key_pair_type() == KeyPairType::User).ok_or_else(|| ConfigError::Key {
        path: path.to_owned(),
        reason: "holds no seed of a NATS user".to_owned(),
    })
}
