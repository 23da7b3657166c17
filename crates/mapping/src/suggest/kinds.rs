//! Words for kinds of works in six languages, with the category of each.

use super::words::folded;

/// Kinds by category, without accents.
const KINDS: [(&str, &str); 5] = [
    (
        "architecture",
        "architecture architectural architektur architettura arquitectura architectuur building buildings bauwerk gebaude \
         batiment edificio edifici edificios gebouw gebouwen house houses haus hauser maison casa casas huis residential residence \
         wohnen wohnbau wohnungsbau housing woningbouw logement residenziale vivienda public civic museum school schule ecole \
         scuola escuela library bibliothek church kirche eglise chiesa iglesia kerk sacred chapel office offices tower bridge \
         brucke pavilion pavillon competition wettbewerb concours concorso concurso prijsvraag plan plans grundriss pianta \
         blueprint urbanism stadtebau landscape stedenbouw infrastructure kulturbau religious educational cultural hospitality \
         commercial apartment apartments villa",
    ),
    (
        "interiors",
        "interior interiors innenraum innenarchitektur interieur interieurs interni interno interiorismo interiores binnenhuis \
         refurbishment shop ladenbau",
    ),
    (
        "design",
        "design furniture mobel mobilier mobili mobiliario meubel meubels meubilair chair chairs stuhl chaise sedia silla stoel \
         table tisch lamp lamps lampe lampada lampara lighting leuchte leuchten textile textiles textil tessuto ceramic ceramics \
         keramik ceramique ceramica keramiek pottery porcelain porzellan glass glas verre vetro vidrio glassware metalwork \
         silver silber vessel jewelry jewellery schmuck poster posters plakat affiche manifesto cartel tableware woodwork \
         goldsmith decorative product costume costumes costume wallpaper clock metal teapot ring bowl vase jar tapestry carpet rug embroidery armchair stool bench \
             stol stole bord plakater affisch mobler bowls containers basket quilt ewer",
    ),
    (
        "photography",
        "photograph photographs photography photo photos fotografie fotografien foto fotos photographie photographies \
         fotografia fotografias fotografi fotografier fotografisch lichtbild negative negativ daguerreotype",
    ),
    (
        "art",
        "art painting paintings gemalde malerei peinture peintures tableau pittura dipinto dipinti pintura pinturas schilderij \
         schilderijen schilderkunst drawing drawings zeichnung zeichnungen dessin dessins disegno disegni dibujo dibujos tekening \
         tekeningen print prints druckgrafik grafik graphik graphic estampe estampes gravure stampa incisione grabado grabados \
         prent prenten prentkunst etching radierung engraving kupferstich lithograph lithographie woodcut holzschnitt sculpture \
         sculptures skulptur skulpturen plastik scultura sculture escultura esculturas beeldhouwkunst beeldhouwwerk sculptuur \
         statue relief watercolor watercolour watercolors aquarell aquarelle acquerello acuarela aquarel pastel collage film \
         video installation installatie installazione instalacion performance miniature icon fresco mosaic illustration \
         illustrations miniatur maleri tegning grafik scroll \
             malerier tegninger akvarel akvareller kobberstik radering traesnit litografi buste bust malning teckning gouache \
             aquatint etsning altarpiece",
    ),
];

/// Phrases of which the words alone say something else.
const PHRASES: [(&str, &str); 5] = [
    ("decorative arts", "design"),
    ("applied arts", "design"),
    ("architectural drawing", "architecture"),
    ("furniture and woodwork", "design"),
    ("interior design", "interiors"),
];

/// Returns the category of a kind of work; `None` if it is not known, or its words have several.
pub(crate) fn category(kind: &str) -> Option<&'static str> {
    let folded = folded(kind);
    if let Some((_, category)) = PHRASES.iter().find(|(phrase, _)| folded.contains(phrase)) {
        return Some(category);
    }
    let words = folded.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut found: Vec<&'static str> = words.filter_map(of_word).collect();
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [category] => Some(category),
        _ => None,
    }
}

fn of_word(word: &str) -> Option<&'static str> {
    let is_known = |wanted: &str| {
        KINDS
            .iter()
            .find(|(_, words)| words.split_whitespace().any(|word| word == wanted))
            .map(|(category, _)| *category)
    };
    is_known(word).or_else(|| is_known(word.strip_suffix('s')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_works_have_a_category() {
        for (kind, expected) in [
            ("Photographs", Some("photography")),
            ("Architectural drawing", Some("architecture")),
            ("Decorative Arts", Some("design")),
            ("Drawing and Watercolor", Some("art")),
            ("Gemälde", Some("art")),
            ("Möbel", Some("design")),
            ("Dipinti", Some("art")),
            ("Vessels of clay", Some("design")),
            ("Prints|Ornament & Architecture", None),
            ("Infrastruktur", None),
            ("", None),
        ] {
            assert_eq!(category(kind), expected, "{kind}");
        }
    }
}
