//! The readers of the models, for the API.

use read::models::{Model, ReadModels};

use super::Parts;
use crate::clock;

impl Parts {
    /// Opens the read models and follows each by itself, so that none waits for another.
    pub(super) fn readers(&self) -> ReadModels {
        let models = ReadModels::new(self.data.models(), clock::of_api());
        for model in Model::ALL {
            let following = models.clone().follow(model, self.health.clone(), self.lifecycle.stop.clone());
            let following = async move {
                following.await;
                Ok(())
            };
            self.lifecycle.spawn(format!("the reader of the {} model", model.name()), following);
        }
        models
    }
}
