//! Sentence encoders of the BERT family: tokens, a transformer, and the mean of what comes out.

use std::path::Path;

use ndarray::{Array1, Array2, Axis, Slice};
use serde::Deserialize;
use tokenizers::{Tokenizer, TruncationParams};

use super::super::{EncodeError, EncoderError};
use super::files::{Digest, ModelFolder, malformed};
use super::layers::{Activation, Block, BlockNames, Norm, NormOrder, Shape};
use super::weights::{Bytes, Weights};

/// The most tokens that are read of a text; sentence encoders were trained on no more.
const MAX_TOKENS: usize = 256;

const NAMES: BlockNames = BlockNames {
    query: "attention.self.query",
    key: "attention.self.key",
    value: "attention.self.value",
    attended: "attention.output.dense",
    first_norm: "attention.output.LayerNorm",
    up: "intermediate.dense",
    down: "output.dense",
    second_norm: "output.LayerNorm",
    scales: None,
};

#[derive(Deserialize)]
struct Kind {
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

/// How the tokens' vectors become one; sentence-transformers keep it in a file beside the model.
#[derive(Deserialize)]
struct Pooling {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

/// A sentence encoder in memory.
#[derive(Debug)]
pub(super) struct SentenceModel {
    tokenizer: Tokenizer,
    words: Array2<f32>,
    positions: Array2<f32>,
    /// Of a text that is no second sentence of a pair.
    first_kind: Array1<f32>,
    norm: Norm,
    blocks: Vec<Block>,
    /// Whether the first token's vector stands for the text, and not the mean of all.
    first_token: bool,
}

impl SentenceModel {
    pub(super) fn open(folder: &ModelFolder, digest: &mut Digest) -> Result<SentenceModel, EncoderError> {
        let config = config(folder, digest)?;
        let first_token = first_token(folder, digest)?;
        let tokenizer = tokenizer(folder, &config, digest)?;
        let bytes = Bytes::read(folder, digest)?;
        let weights = bytes.weights(&["", "bert."], "embeddings.word_embeddings.weight")?;
        let shape = Shape {
            hidden: config.hidden_size,
            heads: config.num_attention_heads,
            inner: config.intermediate_size,
            epsilon: config.layer_norm_eps,
            activation: config.hidden_act,
            order: NormOrder::After,
        };
        let table =
            |name: &str, rows| weights.table(&format!("embeddings.{name}.weight"), rows, shape.hidden);
        let kinds = table("token_type_embeddings", config.type_vocab_size)?;
        Ok(SentenceModel {
            words: table("word_embeddings", config.vocab_size)?,
            positions: table("position_embeddings", config.max_position_embeddings)?,
            first_kind: kinds.row(0).to_owned(),
            norm: Norm::load(&weights, "embeddings.LayerNorm", &shape)?,
            blocks: blocks(&weights, config.num_hidden_layers, shape)?,
            tokenizer,
            first_token,
        })
    }

    /// As many numbers as the model's hidden size, of any length.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<f32>, EncodeError> {
        let unread = |reason: String| EncodeError::Unread { reason };
        let tokens = self.tokenizer.encode(text, true).map_err(|error| unread(error.to_string()))?;
        let ids = tokens.get_ids();
        if ids.is_empty() {
            return Err(unread("it finds no token in it".to_owned()));
        }
        let mut input =
            self.positions.slice_axis(Axis(0), Slice::from(..ids.len())).to_owned() + &self.first_kind;
        for (mut row, id) in input.axis_iter_mut(Axis(0)).zip(ids) {
            let id = *id as usize;
            if id >= self.words.nrows() {
                return Err(unread(format!("its tokenizer gives token {id}, which the model does not know")));
            }
            row += &self.words.row(id);
        }
        let output = self.blocks.iter().fold(self.norm.apply(input), |tokens, block| block.apply(tokens));
        Ok(if self.first_token {
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
    let Kind { model_type } = Kind::deserialize(&config).map_err(|error| malformed(&file, error))?;
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
    super::files::divided(&file, config.hidden_size, config.num_attention_heads)?;
    Ok(config)
}

fn first_token(folder: &ModelFolder, digest: &mut Digest) -> Result<bool, EncoderError> {
    const FILE: &str = "1_Pooling/config.json";
    match folder.json_if_there(FILE, digest)? {
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
    let broken =
        |error: tokenizers::Error| malformed(file, format!("is no tokenizer ({error}); download it again"));
    let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(broken)?;
    let known = tokenizer.get_vocab_size(true);
    if known > config.vocab_size {
        let room = config.vocab_size;
        return Err(malformed(
            file,
            format!("has {known} tokens where config.json has {room}; take both from the same model"),
        ));
    }
    let max_length = MAX_TOKENS.min(config.max_position_embeddings);
    tokenizer
        .with_truncation(Some(TruncationParams { max_length, ..TruncationParams::default() }))
        .map_err(broken)?;
    // A text is encoded alone, so padding would only add tokens that say nothing.
    tokenizer.with_padding(None);
    Ok(tokenizer)
}
