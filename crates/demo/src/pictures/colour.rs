//! Colours in OKLCH (lightness, chroma, hue), and the colour names of records.

/// A colour: lightness from 0 to 1, chroma from 0 to about 0.3, hue in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Colour {
    pub(super) light: f32,
    pub(super) chroma: f32,
    pub(super) hue: f32,
}

/// Returns a colour of this lightness, chroma and hue.
pub(super) const fn lch(light: f32, chroma: f32, hue: f32) -> Colour {
    Colour { light, chroma, hue }
}

impl Colour {
    /// Converts from sRGB as `0xRRGGBB`.
    pub(super) fn from_hex(hex: u32) -> Self {
        let linear = |shift: u32| {
            let value = ((hex >> shift) & 0xff) as f32 / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        let (r, g, b) = (linear(16), linear(8), linear(0));
        let l = (0.412_22 * r + 0.536_33 * g + 0.051_45 * b).cbrt();
        let m = (0.211_9 * r + 0.680_7 * g + 0.107_4 * b).cbrt();
        let s = (0.088_3 * r + 0.281_72 * g + 0.629_98 * b).cbrt();
        let light = 0.210_45 * l + 0.793_62 * m - 0.004_07 * s;
        Self::from_lab(
            light,
            1.978 * l - 2.428_59 * m + 0.450_59 * s,
            0.025_9 * l + 0.782_77 * m - 0.808_68 * s,
        )
    }

    fn from_lab(light: f32, a: f32, b: f32) -> Self {
        Self { light, chroma: a.hypot(b), hue: b.atan2(a).to_degrees().rem_euclid(360.0) }
    }

    fn lab(self) -> (f32, f32) {
        let (sin, cos) = self.hue.to_radians().sin_cos();
        (self.chroma * cos, self.chroma * sin)
    }

    /// Converts to sRGB from 0 to 1, clipped to the gamut.
    pub(super) fn rgb(self) -> [f32; 3] {
        let (a, b) = self.lab();
        let l = (self.light + 0.396_34 * a + 0.215_8 * b).powi(3);
        let m = (self.light - 0.105_56 * a - 0.063_85 * b).powi(3);
        let s = (self.light - 0.089_48 * a - 1.291_49 * b).powi(3);
        [
            4.076_74 * l - 3.307_71 * m + 0.230_97 * s,
            -1.268_44 * l + 2.609_76 * m - 0.341_32 * s,
            -0.004_2 * l - 0.703_42 * m + 1.707_61 * s,
        ]
        .map(|linear| {
            let linear = linear.clamp(0.0, 1.0);
            if linear <= 0.003_13 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
        })
    }

    /// Mixes with a `share` of `other`.
    pub(super) fn mix(self, other: Self, share: f32) -> Self {
        let ((a, b), (c, d)) = (self.lab(), other.lab());
        let keep = 1.0 - share;
        Self::from_lab(self.light * keep + other.light * share, a * keep + c * share, b * keep + d * share)
    }

    /// Returns a lighter colour; a darker one if `by` is negative. The lightness stays within 0.08 and 0.985.
    pub(super) fn lighter(self, by: f32) -> Self {
        self.with_lightness((self.light + by).clamp(0.08, 0.985))
    }

    /// Returns the colour at another lightness; very light and very dark colours have less chroma.
    pub(super) fn with_lightness(self, light: f32) -> Self {
        let room = |light: f32| (1.0 - ((light - 0.58) / 0.56).powi(2)).max(0.12);
        let share = (room(light) / room(self.light)).min(1.15);
        Self { light, chroma: self.chroma * share, hue: self.hue }
    }

    /// Returns the colour with its chroma multiplied.
    pub(super) fn muted(self, by: f32) -> Self {
        Self { chroma: self.chroma * by, ..self }
    }

    /// Returns whether the hue is visible.
    pub(super) fn is_chromatic(self) -> bool {
        self.chroma > 0.035
    }

    /// Returns a colour by its name in a record; for an unknown name, by its last word.
    pub(super) fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase();
        let of = |wanted: &str| NAMES.iter().find(|(known, _)| *known == wanted);
        let word = name.rsplit(' ').next().unwrap_or_default();
        of(&name).or_else(|| of(word)).map(|(_, hex)| Self::from_hex(*hex))
    }
}

const NAMES: [(&str, u32); 105] = [
    ("amber", 0xc9_8a2b),
    ("black", 0x2b_2a2c),
    ("black and white", 0x8c_8b89),
    ("blue", 0x4f_6f97),
    ("blue black", 0x27_2e3e),
    ("blue grey", 0x7d_8a98),
    ("bone white", 0xe3_dac7),
    ("bottle green", 0x2f_4f42),
    ("brick red", 0x9f_4f3d),
    ("brown", 0x7d_5b43),
    ("brown black", 0x38_2e29),
    ("buff", 0xcf_b48a),
    ("chalk white", 0xe6_e2d8),
    ("charcoal", 0x45_4648),
    ("charcoal grey", 0x45_4648),
    ("chocolate brown", 0x5b_3f33),
    ("clear", 0xc5_d3d2),
    ("copper brown", 0x95_5f43),
    ("cream", 0xe7_d9b9),
    ("deep blue", 0x2c_4674),
    ("deep red", 0x8b_2b2f),
    ("dun", 0x9a_8a72),
    ("dusty pink", 0xcb_9f97),
    ("faded blue", 0x87_9fb3),
    ("faded green", 0x93_a58c),
    ("graphite", 0x55_585c),
    ("graphite grey", 0x5a_5d61),
    ("green", 0x5f_7f5f),
    ("grey", 0x93_928f),
    ("grey green", 0x87_9585),
    ("honey brown", 0xb4_7f47),
    ("indigo", 0x36_3f6b),
    ("ink blue", 0x2f_4468),
    ("iron red", 0x8d_4337),
    ("ivory", 0xe9_e0c9),
    ("lilac", 0xa9_99ba),
    ("madder pink", 0xc2_7474),
    ("madder red", 0xa0_3d3a),
    ("milk white", 0xe9_e6dd),
    ("milky blue", 0xae_c2cc),
    ("moss green", 0x6c_7445),
    ("mustard", 0xc2_993a),
    ("mustard yellow", 0xc7_9d35),
    ("ochre", 0xc0_8a3e),
    ("olive", 0x76_7245),
    ("orange", 0xd0_7f3c),
    ("oxblood", 0x70_2f30),
    ("oxblood red", 0x76_3030),
    ("pale blue", 0xa9_c0d0),
    ("pale green", 0xb3_c5a8),
    ("pale grey", 0xc4_c3bf),
    ("pale ochre", 0xd4_b27b),
    ("pale yellow", 0xe3_d596),
    ("pearl grey", 0xb7_b6b3),
    ("petrol blue", 0x2c_5d6b),
    ("pink", 0xcb_9f97),
    ("plum brown", 0x69_464c),
    ("prussian blue", 0x27_456b),
    ("red", 0x9c_4139),
    ("rose", 0xc4_8386),
    ("rose grey", 0xb3_9f9c),
    ("rust red", 0x9e_5334),
    ("saffron", 0xd6_9a34),
    ("sandy", 0xcd_b48c),
    ("sea green", 0x6b_9b90),
    ("sepia", 0x7b_5f47),
    ("silver grey", 0xad_b0b2),
    ("slate grey", 0x68_7078),
    ("smoke", 0x84_8386),
    ("smoke blue", 0x7c_8c9c),
    ("smoke grey", 0x86_8588),
    ("sodium orange", 0xd0_8137),
    ("speckled grey", 0x9d_9b96),
    ("straw yellow", 0xd8_bd74),
    ("tar black", 0x2b_2827),
    ("terracotta red", 0xad_5f45),
    ("tile red", 0xaa_563e),
    ("tobacco brown", 0x86_6141),
    ("turquoise", 0x57_a09c),
    ("ultramarine", 0x34_4b93),
    ("umber", 0x6a_5140),
    ("umber brown", 0x6d_5240),
    ("undyed grey", 0xb5_ac9e),
    ("verdigris green", 0x6d_9c87),
    ("vermilion", 0xc7_4f37),
    ("violet", 0x6f_5b8c),
    ("warm black", 0x33_2d2a),
    ("warm grey", 0xa3_9c93),
    ("white", 0xe8_e7e3),
    ("yellow", 0xd4_b14e),
    ("gold", 0xc0_9a4a),
    ("silver", 0xb4_b6b8),
    ("bronze", 0x80_6443),
    ("copper", 0xa5_6743),
    ("brass", 0xb8_975a),
    ("rust", 0x9e_5334),
    ("sand", 0xcd_b48c),
    ("chalk", 0xe6_e2d8),
    ("moss", 0x6c_7445),
    ("slate", 0x68_7078),
    ("pearl", 0xc9_c7c2),
    ("stone", 0xa8_a195),
    ("tobacco", 0x86_6141),
    ("straw", 0xd8_bd74),
    ("plum", 0x69_464c),
];
