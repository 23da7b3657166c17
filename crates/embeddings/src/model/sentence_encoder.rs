//! Sentence encoders of the BERT family: tokenizer, transformer, and pooling.

use std::path::Path;

use ndarray::{Array1, Array2, Axis, Slice};
use serde::Deserialize;
use tokenizers::{Tokenizer, TruncationParams};

use super::super::{EncodeError, EncoderError};
use super::files::{Digest, ModelFolder, malformed};
use super::layers::{Activation, Block, BlockNames, LayerNorm, NormOrder, Shape};
use super::weights::{Weights, WeightsFile};

/// The most tokens of a text that are read; sentence encoders are trained on no more.
const MAX_TOKENS: usize = 256;

const NAMES: BlockNames = BlockNames {
    query: "attention.self.query",
    key: "attention.self.key",
    value: "attention.self.value",
    attention_output: "attention.output.dense",
    first_norm: "attention.output.LayerNorm",
    up: "intermediate.dense",
    down: "output.dense",
    second_norm: "output.LayerNorm",
    scales: None,
};

#[derive(Deserialize)]
struct ModelType {
    model_type: String,
}

#[derive(Deserialize)]
struct Config {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: Activation,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    #[serde(default = "bert_epsilon")]
    layer_norm_eps: f32,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

fn bert_epsilon() -> f32 {
    1e-12
}

/// The pooling of token vectors; sentence-transformers keep it in a file beside the model.
#[derive(Deserialize)]
struct Pooling {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

/// A sentence encoder in memory.
#[derive(Debug)]
pub(super) struct SentenceEncoder {
    tokenizer: Tokenizer,
    word_embeddings: Array2<f32>,
    position_embeddings: Array2<f32>,
    /// The token type of a text that is not the second sentence of a pair.
    token_type: Array1<f32>,
    norm: LayerNorm,
    blocks: Vec<Block>,
    /// Pools by the first token, and not by the mean of all.
    pools_first_token: bool,
}

impl SentenceEncoder {
    pub(super) fn open(folder: &ModelFolder, digest: &mut Digest) -> Result<SentenceEncoder, EncoderError> {
        let config = config(folder, digest)?;
        let pools_first_token = pools_first_token(folder, digest)?;
        let tokenizer = tokenizer(folder, &config, digest)?;
        let file = WeightsFile::read(folder, digest)?;
        let weights = file.weights(&["", "bert."], "embeddings.word_embeddings.weight")?;
        let shape = Shape {
            hidden: config.hidden_size,
            heads: config.num_attention_heads,
            intermediate: config.intermediate_size,
            epsilon: config.layer_norm_eps,
            activation: config.hidden_act,
            order: NormOrder::After,
        };
        let embeddings =
            |name: &str, rows| weights.matrix(&format!("embeddings.{name}.weight"), rows, shape.hidden);
        let token_types = embeddings("token_type_embeddings", config.type_vocab_size)?;
        Ok(SentenceEncoder {
            word_embeddings: embeddings("word_embeddings", config.vocab_size)?,
            position_embeddings: embeddings("position_embeddings", config.max_position_embeddings)?,
            token_type: token_types.row(0).to_owned(),
            norm: LayerNorm::load(&weights, "embeddings.LayerNorm", &shape)?,
            blocks: blocks(&weights, config.num_hidden_layers, shape)?,
            tokenizer,
            pools_first_token,
        })
    }

    /// Returns a vector of the hidden size, not normalised.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<f32>, EncodeError> {
        let failed = |reason: String| EncodeError::Tokenizer { reason };
        let tokens = self.tokenizer.encode(text, true).map_err(|error| failed(error.to_string()))?;
        let ids = tokens.get_ids();
        if ids.is_empty() {
            return Err(failed("it finds no token in it".to_owned()));
        }
        let mut input = self.position_embeddings.slice_axis(Axis(0), Slice::from(..ids.len())).to_owned()
            + &self.token_type;
        for (mut row, id) in input.axis_iter_mut(Axis(0)).zip(ids) {
            let id = *id as usize;
            if id >= self.word_embeddings.nrows() {
                return Err(failed(format!("its tokenizer gives token {id}, which the model does not know")));
            }
            row += &self.word_embeddings.row(id);
        }
        let output = self.blocks.iter().fold(self.norm.apply(input), |tokens, block| block.apply(tokens));
        Ok(if self.pools_first_token {
            output.row(0).to_vec()
        } else {
            (output.sum_axis(Axis(0)) / ids.len() as f32).to_vec()
        })
    }
}

fn blocks(weights: &Weights<'_>, count: usize, shape: Shape) -> Result<Vec<Block>, EncoderError> {
    (0..count).map(|at| Block::load(weights, &format!("encoder.layer.{at}."), &NAMES, shape)).collect()
}

fn config(folder: &ModelFolder, digest: &mut Digest) -> Result<Config, EncoderError> {
    let file = folder.file("config.json");
    let config: serde_json::Value = folder.json("config.json", digest)?;
    let ModelType { model_type } =
        ModelType::deserialize(&config).map_err(|error| malformed(&file, error))?;
    if model_type != "bert" {
        return Err(EncoderError::OtherArchitecture {
            file,
            found: model_type,
            wanted: "text/ takes bert models",
        });
    }
    let config = Config::deserialize(config).map_err(|error| malformed(&file, error))?;
    if config.position_embedding_type.as_deref().is_some_and(|kind| kind != "absolute") {
        return Err(malformed(&file, "has relative positions; choose a model with absolute ones"));
    }
    let sizes =
        [config.vocab_size, config.num_hidden_layers, config.intermediate_size, config.type_vocab_size];
    if sizes.contains(&0) || config.max_position_embeddings < 2 {
        return Err(malformed(&file, "has a size of 0"));
    }
    super::files::check_hidden_size(&file, config.hidden_size, config.num_attention_heads)?;
    Ok(config)
}

fn pools_first_token(folder: &ModelFolder, digest: &mut Digest) -> Result<bool, EncoderError> {
    const FILE: &str = "1_Pooling/config.json";
    match folder.optional_json(FILE, digest)? {
        None | Some(Pooling { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false }) => Ok(false),
        Some(Pooling { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }) => Ok(true),
        Some(_) => Err(malformed(
            &folder.file(FILE),
            "pools tokens in a way that is not known; choose a model that takes their mean or the first",
        )),
    }
}

fn tokenizer(folder: &ModelFolder, config: &Config, digest: &mut Digest) -> Result<Tokenizer, EncoderError> {
    const FILE: &str = "tokenizer.json";
    let file: &Path = &folder.file(FILE);
    let bytes = folder.bytes(FILE, digest)?;
    let broken = |error: tokenizers::Error| {
        malformed(file, format!("is not a tokenizer ({error}); download it again"))
    };
    let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(broken)?;
    let tokens = tokenizer.get_vocab_size(true);
    if tokens > config.vocab_size {
        let limit = config.vocab_size;
        return Err(malformed(
            file,
            format!("has {tokens} tokens where config.json has {limit}; take both from the same model"),
        ));
    }
    let max_length = MAX_TOKENS.min(config.max_position_embeddings);
    tokenizer
        .with_truncation(Some(TruncationParams { max_length, ..TruncationParams::default() }))
        .map_err(broken)?;
    // Texts are encoded one by one: padding would only cost time.
    tokenizer.with_padding(None);
    Ok(tokenizer)
}
