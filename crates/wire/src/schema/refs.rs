//! Where references lead, and which of them lead back to themselves.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use super::fit::Losses;
use super::pointer::Pointer;
use super::read::Reading;
use super::tree::{Keywords, Named, Schema, Value};
use super::{REFERENCE_DEPTH_MAX, SCAN_BYTES_MAX, SchemaLanguage, read, tree};
use crate::index::Index;
use crate::json::Json;
use crate::percent;

/// The input as a whole, in which references are looked up.
pub(super) struct References<'s> {
    root: Schema<'s>,
    json: Json<'s>,
    /// The names of the maps in it that references have led into, by where these stand in memory.
    names: RefCell<HashMap<usize, Index<String>>>,
    /// What was found in places that are not known, by where each stands in memory.
    scanned: RefCell<HashMap<(usize, usize), Members<'s>>>,
    /// How much may still be read in search of schemas in places that are not known.
    scan_bytes_left: Cell<usize>,
    /// The pointers of the `$ref` keywords that a language has to cut.
    recursive: HashSet<String>,
    /// The pointers of schemas within themselves, at least one in each circle.
    circular: HashSet<String>,
}

/// Which ways of a schema into itself a language refuses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refused {
    None,
    /// Those that do not pass through a property that may be left out.
    Unavoidable,
    All,
}

impl<'s> References<'s> {
    pub(super) fn new(json: &Json<'s>, root: &Schema<'s>, language: SchemaLanguage) -> Self {
        let refused = Refused::by(language);
        let mut references = Self {
            root: root.clone(),
            json: json.clone(),
            names: RefCell::default(),
            scanned: RefCell::default(),
            scan_bytes_left: Cell::new(SCAN_BYTES_MAX),
            recursive: HashSet::new(),
            circular: HashSet::new(),
        };
        let (recursive, circular) = Search::run(&references, Refused::All);
        references.recursive = match refused {
            Refused::None => HashSet::new(),
            Refused::Unavoidable if !recursive.is_empty() => Search::run(&references, refused).0,
            // Without any circle there is none that cannot be avoided.
            Refused::Unavoidable | Refused::All => recursive,
        };
        references.circular = circular;
        references
    }

    pub(super) fn is_recursive(&self, at: &Pointer<'_>) -> bool {
        !self.recursive.is_empty() && self.recursive.contains(&at.to_string())
    }

    /// Whether copying the schema at `pointer` into itself would go on without end.
    pub(super) fn is_circular(&self, pointer: &str) -> bool {
        self.circular.contains(pointer)
    }

    /// A copy of the schema at a pointer into the input.
    pub(super) fn resolve(&self, pointer: &str) -> Option<Schema<'s>> {
        self.schema_at(pointer).map(Cow::into_owned)
    }

    fn schema_at(&self, pointer: &str) -> Option<Cow<'_, Schema<'s>>> {
        let pointer = Pointer::parse(pointer);
        let segments = pointer.segments();
        let known = self.find(&segments).map(Cow::Borrowed);
        known.or_else(|| self.resolve_anywhere(&segments).map(Cow::Owned))
    }

    /// The references below the schema at a pointer into the input.
    fn edges(&self, pointer: &str, refused: Refused) -> Vec<Edge> {
        let mut found = Vec::new();
        if let Some(schema) = self.schema_at(pointer) {
            edges(&schema, refused, &mut found);
        }
        found
    }

    /// The keywords of the schema at a pointer, if a keyword that is known leads there.
    pub(super) fn keywords(&self, pointer: &str) -> Option<&Keywords<'s>> {
        self.find(&Pointer::parse(pointer).segments())?.keywords()
    }

    fn find(&self, segments: &[&str]) -> Option<&Schema<'s>> {
        self.find_below(&self.root, segments)
    }

    fn find_below<'t>(&self, schema: &'t Schema<'s>, segments: &[&str]) -> Option<&'t Schema<'s>> {
        let [keyword, rest @ ..] = segments else { return Some(schema) };
        match (&schema.keywords()?.find(keyword)?.value, rest) {
            (Value::Schema(below), rest) => self.find_below(below, rest),
            (Value::Schemas(schemas), [index, rest @ ..]) => {
                self.find_below(schemas.get(index.parse::<usize>().ok()?)?, rest)
            }
            (Value::Map(map), [name, rest @ ..]) => {
                self.find_below(&map[self.find_named(map, name)?].schema, rest)
            }
            _ => None,
        }
    }

    /// Where a name stands in a map of the root, which never changes.
    fn find_named(&self, map: &[Named<'s>], name: &str) -> Option<usize> {
        let mut names = self.names.borrow_mut();
        let names = names.entry(map.as_ptr().addr()).or_default();
        names.last(map, name, |named| &*named.name)
    }

    fn defines(&self, keyword: &str, name: &str) -> bool {
        let map = self.root.keywords().and_then(|keywords| keywords.map(keyword));
        map.is_some_and(|map| self.find_named(map, name).is_some())
    }

    /// Schemas may also stand under keywords that no language knows, such as `components`.
    fn resolve_anywhere(&self, segments: &[&str]) -> Option<Schema<'s>> {
        let mut json = self.json.clone();
        let mut at = Pointer::default();
        for segment in segments {
            json = self.step_into(&json, segment)?;
            at = at.child((*segment).to_owned());
        }
        let mut schema = Schema::parse(&json, at);
        // That it has moved is on record already.
        read::read(&mut schema, Reading::Json, &mut Losses::default());
        Some(schema)
    }

    /// The value under a name or a number of an object or a list, each of which is read once.
    fn step_into(&self, json: &Json<'s>, segment: &str) -> Option<Json<'s>> {
        let text = json.as_str();
        let mut scanned = self.scanned.borrow_mut();
        let members = scanned.entry((text.as_ptr().addr(), text.len())).or_insert_with(|| {
            let left = self.scan_bytes_left.get().checked_sub(text.len());
            self.scan_bytes_left.set(left.unwrap_or(0));
            left.map_or_else(HashMap::new, |_| members(json))
        });
        members.get(segment).cloned()
    }

    /// What a `$ref` to `pointer` is called in languages that keep definitions under `$defs`.
    pub(super) fn kept_name(&self, pointer: &str) -> Option<String> {
        match Pointer::parse(pointer).segments()[..] {
            [] => Some("#".to_owned()),
            ["$defs", name] if self.defines("$defs", name) => Some(format!("#{pointer}")),
            ["definitions", name]
                if self.defines("definitions", name) && !self.defines("$defs", name) =>
            {
                Some(format!("#/$defs{}", pointer.strip_prefix("/definitions")?))
            }
            _ => None,
        }
    }
}

impl Refused {
    fn by(language: SchemaLanguage) -> Self {
        match language {
            SchemaLanguage::AnthropicStrict => Self::All,
            SchemaLanguage::GeminiJsonSchema => Self::Unavoidable,
            SchemaLanguage::JsonSchema
            | SchemaLanguage::OpenaiStrict
            | SchemaLanguage::GeminiSchema => Self::None,
        }
    }
}

/// The pointer that a reference within the document names; none for any other reference.
pub(super) fn local_pointer(reference: &str) -> Option<String> {
    let fragment = percent::decoded(reference.strip_prefix('#')?)?;
    (fragment.is_empty() || fragment.starts_with('/')).then_some(fragment)
}

/// What stands in an object by its names, or in a list by their numbers.
type Members<'s> = HashMap<String, Json<'s>>;

fn members<'s>(json: &Json<'s>) -> Members<'s> {
    let elements = tree::elements(json).into_iter().enumerate();
    let elements = elements.map(|(index, json)| (index.to_string(), json));
    let members = tree::members(json).into_iter();
    elements.chain(members.map(|(name, json)| (name.into_owned(), json))).collect()
}

/// A walk along references that marks those which close a circle.
struct Search<'r, 's> {
    references: &'r References<'s>,
    refused: Refused,
    progress: HashMap<String, Progress>,
    recursive: HashSet<String>,
    circular: HashSet<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Open,
    Done,
}

/// A `$ref` keyword: where it stands and where it leads.
struct Edge {
    at: String,
    target: String,
}

impl Search<'_, '_> {
    fn run(references: &References<'_>, refused: Refused) -> (HashSet<String>, HashSet<String>) {
        let mut search = Search {
            references,
            refused,
            progress: HashMap::new(),
            recursive: HashSet::new(),
            circular: HashSet::new(),
        };
        let mut everywhere = Vec::new();
        edges(&references.root, Refused::None, &mut everywhere);
        if !everywhere.is_empty() {
            search.visit("", 0);
        }
        for edge in everywhere {
            if !search.progress.contains_key(&edge.target) {
                search.visit(&edge.target, 0);
            }
        }
        (search.recursive, search.circular)
    }

    fn visit(&mut self, target: &str, depth: usize) {
        self.progress.insert(target.to_owned(), Progress::Open);
        for edge in self.references.edges(target, self.refused) {
            match self.progress.get(&edge.target) {
                Some(Progress::Done) => {}
                None if depth < REFERENCE_DEPTH_MAX => self.visit(&edge.target, depth + 1),
                Some(Progress::Open) | None => {
                    self.recursive.insert(edge.at);
                    self.circular.insert(edge.target);
                }
            }
        }
        self.progress.insert(target.to_owned(), Progress::Done);
    }
}

/// Collects the references below `schema`; with nothing refused, those in definitions as well.
fn edges(schema: &Schema<'_>, refused: Refused, found: &mut Vec<Edge>) {
    let Some(keywords) = schema.keywords() else { return };
    if let Some(keyword) = keywords.find("$ref")
        && let Some(target) = keywords.string("$ref").as_deref().and_then(local_pointer)
    {
        found.push(Edge { at: keyword.at.to_string(), target });
    }
    for keyword in &keywords.0 {
        match &keyword.value {
            Value::Plain(_) => {}
            Value::Schema(schema) => edges(schema, refused, found),
            Value::Schemas(schemas) => {
                schemas.iter().for_each(|schema| edges(schema, refused, found));
            }
            Value::Map(map) => {
                let counting = counting(keywords, &keyword.name, refused);
                let counts = |it: &&Named<'_>| {
                    counting.as_ref().is_none_or(|names| names.contains(&*it.name))
                };
                let members = map.iter().filter(counts);
                members.for_each(|named| edges(&named.schema, refused, found));
            }
        }
    }
}

/// Through which members of a map a circle counts; none stands for all of them.
fn counting(keywords: &Keywords<'_>, keyword: &str, refused: Refused) -> Option<HashSet<String>> {
    match (refused, keyword) {
        (Refused::None, _) | (Refused::All, "properties") => None,
        (Refused::Unavoidable, "properties") => {
            let required = keywords.list("required").unwrap_or_default();
            Some(required.iter().filter_map(tree::as_string).collect())
        }
        (Refused::All | Refused::Unavoidable, _) => Some(HashSet::new()),
    }
}
