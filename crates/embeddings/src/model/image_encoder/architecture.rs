//! The tensor names of the three families of image encoders, and the sizes from `config.json`.

use serde::Deserialize;

use super::super::super::EncoderError;
use super::super::files::{Digest, ModelFolder, check_hidden_size, malformed};
use super::super::layers::{Activation, BlockNames, NormOrder, Shape};

/// The tensor names of one family.
pub(super) struct Architecture {
    /// Possible prefixes of all names.
    pub(super) prefixes: &'static [&'static str],
    pub(super) class: &'static str,
    pub(super) positions: &'static str,
    pub(super) patches: &'static str,
    pub(super) patch_bias: bool,
    /// Whether the class token and the positions have a first axis of length 1.
    pub(super) batched: bool,
    pub(super) blocks: &'static str,
    pub(super) block: BlockNames,
    pub(super) first_norm: Option<&'static str>,
    pub(super) last_norm: &'static str,
    pub(super) projection: Option<&'static str>,
}

/// The sizes of one model.
pub(super) struct Sizes {
    pub(super) shape: Shape,
    pub(super) layers: usize,
    /// Pixels per side for which the positions were trained.
    pub(super) image: usize,
    /// Pixels per side of a patch.
    pub(super) patch: usize,
    /// The dimensions after the projection.
    pub(super) projected: usize,
}

const VIT_BLOCK: BlockNames = BlockNames {
    query: "attention.attention.query",
    key: "attention.attention.key",
    value: "attention.attention.value",
    attention_output: "attention.output.dense",
    first_norm: "layernorm_before",
    up: "intermediate.dense",
    down: "output.dense",
    second_norm: "layernorm_after",
    scales: None,
};

const VIT_NAMES: Architecture = Architecture {
    prefixes: &["", "vit."],
    class: "embeddings.cls_token",
    positions: "embeddings.position_embeddings",
    patches: "embeddings.patch_embeddings.projection",
    patch_bias: true,
    batched: true,
    blocks: "encoder.layer.",
    block: VIT_BLOCK,
    first_norm: None,
    last_norm: "layernorm",
    projection: None,
};

static VIT: Architecture = VIT_NAMES;

static DINOV2: Architecture = Architecture {
    prefixes: &["", "dinov2."],
    block: BlockNames {
        first_norm: "norm1",
        up: "mlp.fc1",
        down: "mlp.fc2",
        second_norm: "norm2",
        scales: Some(["layer_scale1.lambda1", "layer_scale2.lambda1"]),
        ..VIT_BLOCK
    },
    ..VIT_NAMES
};

static CLIP: Architecture = Architecture {
    prefixes: &[""],
    class: "vision_model.embeddings.class_embedding",
    positions: "vision_model.embeddings.position_embedding.weight",
    patches: "vision_model.embeddings.patch_embedding",
    patch_bias: false,
    batched: false,
    blocks: "vision_model.encoder.layers.",
    block: BlockNames {
        query: "self_attn.q_proj",
        key: "self_attn.k_proj",
        value: "self_attn.v_proj",
        attention_output: "self_attn.out_proj",
        first_norm: "layer_norm1",
        up: "mlp.fc1",
        down: "mlp.fc2",
        second_norm: "layer_norm2",
        scales: None,
    },
    first_norm: Some("vision_model.pre_layrnorm"),
    last_norm: "vision_model.post_layernorm",
    projection: Some("visual_projection.weight"),
};

/// `config.json`; absent members have the default of the family.
#[derive(Default, Deserialize)]
struct Config {
    hidden_size: Option<usize>,
    num_hidden_layers: Option<usize>,
    num_attention_heads: Option<usize>,
    intermediate_size: Option<usize>,
    mlp_ratio: Option<usize>,
    use_swiglu_ffn: Option<bool>,
    image_size: Option<usize>,
    patch_size: Option<usize>,
    layer_norm_eps: Option<f32>,
    hidden_act: Option<Activation>,
    projection_dim: Option<usize>,
}

impl Architecture {
    /// Reads family and sizes of the model in a folder.
    pub(super) fn read(
        folder: &ModelFolder,
        digest: &mut Digest,
    ) -> Result<(&'static Architecture, Sizes), EncoderError> {
        let file = folder.file("config.json");
        let mut json: serde_json::Value = folder.json("config.json", digest)?;
        let Some(kind) = json.get("model_type").and_then(|kind| kind.as_str()).map(str::to_owned) else {
            return Err(malformed(&file, "has no model_type; take it from the model hub again"));
        };
        let (architecture, epsilon, activation, patch) = match kind.as_str() {
            "vit" => (&VIT, 1e-12, Activation::Gelu, 16),
            "dinov2" => (&DINOV2, 1e-6, Activation::Gelu, 14),
            "clip" | "clip_vision_model" => (&CLIP, 1e-5, Activation::QuickGelu, 32),
            _ => {
                let wanted = "image/ takes vit, dinov2, clip and clip_vision_model models";
                return Err(EncoderError::OtherArchitecture { file, found: kind, wanted });
            }
        };
        let projected = json.get("projection_dim").and_then(|size| size.as_u64());
        // A complete CLIP model has separate configurations for image and text.
        if let Some(vision) = json.get_mut("vision_config").filter(|_| kind == "clip") {
            json = vision.take();
        }
        let config = Config::deserialize(json).map_err(|error| malformed(&file, error))?;
        if config.use_swiglu_ffn == Some(true) {
            return Err(malformed(
                &file,
                "is of a model with a gated feed-forward part; choose a smaller one of the family",
            ));
        }
        let hidden = config.hidden_size.unwrap_or(768);
        let heads = config.num_attention_heads.unwrap_or(12);
        check_hidden_size(&file, hidden, heads)?;
        let ratio = config.mlp_ratio.unwrap_or(4);
        let shape = Shape {
            hidden,
            heads,
            intermediate: config
                .intermediate_size
                .filter(|_| config.mlp_ratio.is_none())
                .unwrap_or(ratio.saturating_mul(hidden)),
            epsilon: config.layer_norm_eps.unwrap_or(epsilon),
            activation: config.hidden_act.unwrap_or(activation),
            order: NormOrder::Before,
        };
        let sizes = Sizes {
            shape,
            layers: config.num_hidden_layers.unwrap_or(12),
            image: config.image_size.unwrap_or(224),
            patch: config.patch_size.unwrap_or(patch),
            projected: projected.map(|size| size as usize).or(config.projection_dim).unwrap_or(512),
        };
        if sizes.patch == 0
            || sizes.image < sizes.patch
            || sizes.image > 4096
            || sizes.layers == 0
            || shape.intermediate == 0
        {
            return Err(malformed(
                &file,
                "has an image_size, patch_size or number of layers that makes no model",
            ));
        }
        Ok((architecture, sizes))
    }
}
