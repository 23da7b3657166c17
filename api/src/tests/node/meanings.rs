//! Nodes that know what projects mean, with a small text model.

use super::*;
use crate::tests::keyed;

/// The pieces that the model knows, and the first four numbers of each: of water, of faith, of war, of wood.
const PIECES: [(&str, [i8; 4]); 13] = [
    ("boat", [100, 0, 0, 0]),
    ("ship", [100, 10, 0, 0]),
    ("harbour", [100, 0, 30, 0]),
    ("sea", [100, 0, 0, 100]),
    ("lake", [40, 0, 0, 80]),
    ("church", [0, 100, 0, 0]),
    ("temple", [0, 100, 20, 0]),
    ("war", [0, 0, 100, 0]),
    ("wood", [0, 0, 0, 100]),
    ("oak", [0, 0, 10, 100]),
    ("larch", [0, 20, 0, 100]),
    ("stone", [0, 50, 50, 0]),
    ("house", [0, 0, 0, 0]),
];

/// The number of pieces of the real model, whose form this one has.
const ALL_PIECES: usize = 29_528;
/// The numbers of a meaning, and of the words before it in a vector.
const NUMBERS: usize = 256;

/// A project: its slug, its record, and words with its meaning, if it has one.
pub(in crate::tests) type Meant<'a> = (&'a str, Value, Option<&'a str>);

fn text_model() -> TextModel {
    let mut table = [0.01_f32.to_le_bytes(); ALL_PIECES].concat();
    let mut rows = vec![0; ALL_PIECES * NUMBERS];
    for (row, (_, numbers)) in PIECES.iter().enumerate() {
        let bytes = numbers.iter().map(|number| number.cast_unsigned()).collect::<Vec<u8>>();
        rows[row * NUMBERS..][..bytes.len()].copy_from_slice(&bytes);
    }
    table.append(&mut rows);
    let others = (PIECES.len()..ALL_PIECES).map(|piece| format!("[unused{piece}]"));
    let lines: Vec<String> = PIECES.iter().map(|(piece, _)| (*piece).to_owned()).chain(others).collect();
    table.extend(lines.join("\n").into_bytes());
    TextModel::from_table(table).unwrap()
}

impl Node {
    /// A node with a text model whose catalog has these projects and no others.
    pub(in crate::tests) async fn start_with_meanings(projects: &[Meant<'_>]) -> Node {
        let text_model = Arc::new(text_model());
        let folder = filled_with(projects, &text_model).await;
        Node::serve(folder, Settings { text_model: Some(text_model), ..Settings::default() }).await
    }

    /// The same, and it requires keys, of which one is issued. So many of its 200 calls are counted.
    pub(in crate::tests) async fn start_keyed_with_meanings(projects: &[Meant<'_>], calls: u8) -> Node {
        let text_model = Arc::new(text_model());
        let folder = filled_with(projects, &text_model).await;
        keyed::issue(folder.path()).await;
        keyed::count(folder.path(), calls).await;
        let access = keyed::access(folder.path(), RateLimits::new(0, 0, 0)).await;
        Node::serve(folder, Settings { access, text_model: Some(text_model), ..Settings::default() }).await
    }

    /// Adds projects to such a node, which has `count` of them.
    pub(in crate::tests) async fn add_meanings(&self, count: usize, projects: &[Meant<'_>]) {
        add(self.folder.path(), self.state.text_model().unwrap(), count, projects).await;
        self.state.models().refresh().await.unwrap();
    }

    /// Records that something happened to a project of such a node, for the lists and for the neighbours or for one of them.
    pub(in crate::tests) async fn happens(&self, number: usize, event: Event, [listed, near]: [bool; 2]) {
        let folder = self.folder.path();
        if listed {
            record_all(folder, vec![(500, at(AT), number, event.clone())], checkpoint(500, STORE)).await;
        }
        if near {
            let mut writer = NeighboursWriter::open(&current(ModelKind::Neighbours, folder)).await.unwrap();
            writer.load([id(number)].into_iter()).await.unwrap();
            writer.apply(id(number), &event, Position(500)).unwrap();
            writer.commit(Checkpoint { position: Position(500), ..Checkpoint::default() }).await.unwrap();
            writer.close().await.unwrap();
        }
        self.state.models().refresh().await.unwrap();
    }
}

/// A folder with the models of these projects.
async fn filled_with(projects: &[Meant<'_>], text_model: &TextModel) -> TempDir {
    let temporary = tempfile::tempdir().unwrap();
    for model in [ModelKind::Catalog, ModelKind::Archive, ModelKind::Search, ModelKind::Neighbours] {
        created(model, temporary.path());
    }
    add(temporary.path(), text_model, 0, projects).await;
    temporary
}

/// Adds projects to the models, numbered from `first` on.
async fn add(folder: &Path, text_model: &TextModel, first: usize, projects: &[Meant<'_>]) {
    let numbered = || (first..).zip(projects);
    let place = |number: usize| number as u64 + 1;
    let listed =
        numbered().map(|(number, (slug, record, _))| (number, place(number), [*slug; 2], record.clone()));
    list_all(listed, folder);
    let selection =
        |(number, (slug, record, _)): (usize, &Meant<'_>)| (number, selected(slug, record.clone()));
    let events = numbered().map(selection).map(|(number, event)| (place(number), at(AT), number, event));
    record_all(folder, events.collect(), checkpoint((first + projects.len()) as u64, STORE)).await;
    let mut writer = NeighboursWriter::open(&current(ModelKind::Neighbours, folder)).await.unwrap();
    writer.load(numbered().map(|(number, _)| id(number))).await.unwrap();
    for (number, event) in numbered().map(selection) {
        writer.apply(id(number), &event, Position(place(number))).unwrap();
    }
    for (number, (.., words)) in numbered().filter(|(_, (.., words))| words.is_some()) {
        let meaning = text_model.query(words.unwrap()).unwrap().vector;
        let numbers = [vec![0.05; NUMBERS], meaning].concat();
        let model = format!("loggia-1+{}", TextModel::NAME);
        let semantic = Some(Vector::quantized(&numbers).unwrap());
        let event = VectorsRecorded { model, visual: None, semantic, computed: None };
        writer.apply(id(number), &Event::VectorsRecorded(event), Position(100 + place(number))).unwrap();
    }
    writer.commit(Checkpoint { position: Position(400), ..Checkpoint::default() }).await.unwrap();
    writer.finish_lists().await.unwrap();
    writer.close().await.unwrap();
}
