//! Writes small models: hidden size 32, two blocks, four heads.

use std::collections::BTreeMap;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::json;

const HIDDEN: usize = 32;
const INNER: usize = 64;
const BLOCKS: usize = 2;
const WORDS: [&str; 13] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "oak", "dusk", "calm", "pale", "dark", "light", "at", "on", "##s"];

/// Tensors of random numbers; norms and biases are random too, so that leaving one out changes the vector.
struct Tensors {
    rng: ChaCha8Rng,
    tensors: BTreeMap<String, (Vec<usize>, Vec<u8>)>,
}

impl Tensors {
    fn new(seed: u64) -> Tensors {
        Tensors { rng: ChaCha8Rng::seed_from_u64(seed), tensors: BTreeMap::new() }
    }

    fn add(&mut self, name: &str, shape: &[usize]) {
        let count = shape.iter().product::<usize>();
        let numbers = (0..count).flat_map(|_| self.rng.random_range(-1.0_f32..1.0).to_le_bytes()).collect();
        self.tensors.insert(name.to_owned(), (shape.to_vec(), numbers));
    }

    fn linear(&mut self, name: &str, inputs: usize, outputs: usize) {
        self.add(&format!("{name}.weight"), &[outputs, inputs]);
        self.add(&format!("{name}.bias"), &[outputs]);
    }

    fn norm(&mut self, name: &str) {
        self.add(&format!("{name}.weight"), &[HIDDEN]);
        self.add(&format!("{name}.bias"), &[HIDDEN]);
    }

    /// Adds the layers of each block: four of attention, two of feed-forward, two norms.
    fn blocks(&mut self, at: &str, names: [&str; 8]) {
        for block in 0..BLOCKS {
            let [attention @ .., up, down, first, second] = names.map(|name| format!("{at}{block}.{name}"));
            let attention: [String; 4] = attention;
            attention.iter().for_each(|name| self.linear(name, HIDDEN, HIDDEN));
            self.linear(&up, HIDDEN, INNER);
            self.linear(&down, INNER, HIDDEN);
            self.norm(&first);
            self.norm(&second);
        }
    }

    fn write(&self, folder: &Path) {
        let views = self
            .tensors
            .iter()
            .map(|(name, (shape, bytes))| (name, TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap()));
        let bytes = safetensors::serialize(views, None).unwrap();
        std::fs::write(folder.join("model.safetensors"), bytes).unwrap();
    }
}

fn write_json(folder: &Path, name: &str, value: &serde_json::Value) {
    std::fs::write(folder.join(name), value.to_string()).unwrap();
}

/// Writes a BERT model of a dozen words.
pub(super) fn sentence_model(folder: &Path, seed: u64) {
    std::fs::create_dir_all(folder).unwrap();
    let config = json!({
        "model_type": "bert", "vocab_size": WORDS.len(), "hidden_size": HIDDEN, "num_hidden_layers": BLOCKS,
        "num_attention_heads": 4, "intermediate_size": INNER, "hidden_act": "gelu",
        "max_position_embeddings": 40, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
    });
    write_json(folder, "config.json", &config);
    let vocabulary: serde_json::Map<_, _> =
        WORDS.iter().enumerate().map(|(id, word)| ((*word).to_owned(), json!(id))).collect();
    let special = |id: usize| {
        json!({"id": id, "content": WORDS[id], "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true})
    };
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [special(0), special(1), special(2), special(3)],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary},
    });
    write_json(folder, "tokenizer.json", &tokenizer);
    let mut tensors = Tensors::new(seed);
    for (table, rows) in
        [("word_embeddings", WORDS.len()), ("position_embeddings", 40), ("token_type_embeddings", 2)]
    {
        tensors.add(&format!("embeddings.{table}.weight"), &[rows, HIDDEN]);
    }
    tensors.norm("embeddings.LayerNorm");
    let names = [
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "intermediate.dense",
        "output.dense",
        "attention.output.LayerNorm",
        "output.LayerNorm",
    ];
    tensors.blocks("encoder.layer.", names);
    tensors.write(folder);
}

/// Writes an image encoder of 8-pixel patches for pictures of 32 pixels; DINOv2 is trained for 24.
pub(super) fn image_model(folder: &Path, family: &str, seed: u64) {
    std::fs::create_dir_all(folder).unwrap();
    let side = if family == "dinov2" { 24 } else { 32 };
    let mut sizes = json!({
        "hidden_size": HIDDEN, "num_hidden_layers": BLOCKS, "num_attention_heads": 4, "image_size": side,
        "patch_size": 8,
    });
    match family {
        "dinov2" => sizes["mlp_ratio"] = json!(INNER / HIDDEN),
        _ => sizes["intermediate_size"] = json!(INNER),
    }
    let config = match family {
        "clip" => json!({"model_type": family, "projection_dim": 16, "vision_config": sizes}),
        _ => {
            sizes["model_type"] = json!(family);
            sizes
        }
    };
    write_json(folder, "config.json", &config);
    let preprocessor =
        json!({"size": {"shortest_edge": 32}, "image_mean": [0.5, 0.4, 0.4], "image_std": [0.2, 0.3, 0.2]});
    write_json(folder, "preprocessor_config.json", &preprocessor);
    let mut tensors = Tensors::new(seed);
    let positions = (side / 8) * (side / 8) + 1;
    if family.starts_with("clip") {
        clip(&mut tensors, positions);
        if family == "clip" {
            tensors.add("visual_projection.weight", &[16, HIDDEN]);
        }
    } else {
        vit(&mut tensors, positions, family == "dinov2");
    }
    tensors.write(folder);
}

fn clip(tensors: &mut Tensors, positions: usize) {
    tensors.add("vision_model.embeddings.class_embedding", &[HIDDEN]);
    tensors.add("vision_model.embeddings.position_embedding.weight", &[positions, HIDDEN]);
    tensors.add("vision_model.embeddings.patch_embedding.weight", &[HIDDEN, 3, 8, 8]);
    tensors.norm("vision_model.pre_layrnorm");
    tensors.norm("vision_model.post_layernorm");
    let attention = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj"];
    let [query, key, value, out] = attention;
    let names = [query, key, value, out, "mlp.fc1", "mlp.fc2", "layer_norm1", "layer_norm2"];
    tensors.blocks("vision_model.encoder.layers.", names);
}

fn vit(tensors: &mut Tensors, positions: usize, dinov2: bool) {
    tensors.add("embeddings.cls_token", &[1, 1, HIDDEN]);
    tensors.add("embeddings.position_embeddings", &[1, positions, HIDDEN]);
    tensors.add("embeddings.patch_embeddings.projection.weight", &[HIDDEN, 3, 8, 8]);
    tensors.add("embeddings.patch_embeddings.projection.bias", &[HIDDEN]);
    tensors.norm("layernorm");
    let [query, key, value, out] = [
        "attention.attention.query",
        "attention.attention.key",
        "attention.attention.value",
        "attention.output.dense",
    ];
    let rest = if dinov2 {
        ["mlp.fc1", "mlp.fc2", "norm1", "norm2"]
    } else {
        ["intermediate.dense", "output.dense", "layernorm_before", "layernorm_after"]
    };
    tensors.blocks("encoder.layer.", [query, key, value, out, rest[0], rest[1], rest[2], rest[3]]);
    if dinov2 {
        for block in 0..BLOCKS {
            tensors.add(&format!("encoder.layer.{block}.layer_scale1.lambda1"), &[HIDDEN]);
            tensors.add(&format!("encoder.layer.{block}.layer_scale2.lambda1"), &[HIDDEN]);
        }
    }
}
