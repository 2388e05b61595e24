//! Calls that come in pieces: which pieces belong to one call, and what their arguments amount to. How a piece is written is a
//! matter of its protocol.

use std::borrow::Cow;

use crate::conversation::{Arguments, CallForm, Content, Part, ToolCall};
use crate::error::{Error, ErrorKind, Result};
use crate::index::Index;
use crate::json::{Json, Kind, Text, Writer};
use crate::owned::into_owned;
use crate::protocol::semantics::NodeSemantics;

/// A piece of a call.
pub(super) struct Piece<'a> {
    pub(super) id: Option<Text<'a>>,
    pub(super) name: Option<Text<'a>>,
    /// What it adds to the arguments, unless that cannot be read.
    pub(super) values: Result<Vec<(Vec<Step<'a>>, Change<'a>)>>,
    /// Whether more pieces of the call follow.
    pub(super) continues: bool,
    /// Where it stands among the parts of its message.
    pub(super) position: usize,
    /// Whether something of it is not as it should be, and was read all the same.
    pub(super) is_mended: bool,
    pub(super) semantics: NodeSemantics<'a>,
}

/// What became of a piece.
pub(super) enum Added {
    /// It was the last one of a call.
    Call(Box<JoinedCall>),
    /// More of its call is to come.
    Kept,
    /// It is of no call, nor ever will be.
    Stray,
}

/// A call that all pieces are there of.
pub(super) struct JoinedCall {
    pub(super) call: ToolCall<'static>,
    pub(super) semantics: NodeSemantics<'static>,
    /// Where its pieces stood among the parts of their message.
    pub(super) positions: Vec<usize>,
    /// Whether its pieces contradict each other or themselves: the last word holds.
    pub(super) is_mended: bool,
}

/// One step of a path into the arguments.
#[derive(Debug)]
pub(super) enum Step<'a> {
    Key(Cow<'a, str>),
    Index(usize),
}

/// What a piece does at a path.
pub(super) enum Change<'a> {
    Put(Value<'a>),
    /// The value that stands there is all of it.
    End,
}

/// A value of the arguments, or some of it.
#[derive(Clone, Debug)]
pub(super) struct Value<'a> {
    pub(super) data: Data<'a>,
    /// Whether more pieces of the value follow.
    pub(super) continues: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Data<'a> {
    /// A string, which more pieces may lengthen.
    Text(Text<'a>),
    Whole(Json<'a>),
}

impl Value<'_> {
    /// Adds what comes next of a string, or another value once more; returns whether it is either.
    fn goes_on_with(&mut self, next: &Value<'_>) -> bool {
        match (&mut self.data, &next.data) {
            (Data::Text(text), Data::Text(more)) => text.push(more),
            (Data::Whole(json), Data::Whole(again)) if json.same_value(again) => {}
            _ => return false,
        }
        self.continues = next.continues;
        true
    }
}

into_owned! {
    pub(super) enum Step { Key(key), Index(index) }
    struct Value { data, continues }
    enum Data { Text(text), Whole(json) }
}

/// Joins the pieces of calls, in the order in which they come. Fixtures `answer/tools/gemini-pieces-of-no-known-value` and
/// `answer/tools/gemini-pieces-of-calls-by-turns`.
#[derive(Clone, Debug, Default)]
pub(super) struct Joiner {
    /// The calls of which more is to come, in the order in which they began.
    open: Vec<PartialCall>,
    /// Whether a call was never completed: what there is of one is nothing to act on.
    has_lost: bool,
    /// Where the pieces stand that were kept and will be of no call.
    given_up: Vec<usize>,
    /// Whether more calls were open at once than are kept apart: pieces may be of any of them.
    is_full: bool,
}

/// How many calls may be open at once; for each piece all of them are looked at.
const OPEN_MAX: usize = 64;

impl Joiner {
    /// Adds a piece; answers the call if that was its last one.
    pub(super) fn add(&mut self, piece: Piece<'_>) -> Added {
        let Some(position) = self.find(&piece).or_else(|| self.begin(&piece)) else {
            // What it may be of is given up.
            self.break_off(|call| call.takes(&piece));
            self.has_lost |= self.is_full || is_orphan(&piece);
            return Added::Stray;
        };
        let (call, continues) = (&mut self.open[position], piece.continues);
        let is_sound = call.add(piece).is_ok() && !call.is_broken;
        match (is_sound, continues) {
            (true, true) => return Added::Kept,
            (true, false) if !call.arguments.continues() => {
                let mut call = self.open.remove(position);
                add_to(&mut self.given_up, std::mem::take(&mut call.replaced));
                return Added::Call(Box::new(call.finish()));
            }
            _ => add_to(&mut self.given_up, call.break_off()),
        }
        if !continues {
            self.open.remove(position);
        }
        self.has_lost = true;
        Added::Stray
    }

    /// The pieces that were kept and turn out to be of no call, in the order in which they came.
    pub(super) fn take_given_up(&mut self) -> Vec<usize> {
        self.given_up.sort_unstable();
        std::mem::take(&mut self.given_up)
    }

    /// The one call that a piece is of. One of which nothing can come any more is left to those that name it.
    fn find(&self, piece: &Piece<'_>) -> Option<usize> {
        let takes = |call: &PartialCall| call.takes(piece);
        let sound = |call: &PartialCall| !call.is_broken && takes(call);
        match self.open.iter().filter(|call| sound(call)).count() {
            0 => self.open.iter().position(takes),
            1 => self.open.iter().position(sound),
            _ => None,
        }
    }

    /// Begins a call, if a piece does so and there is room for it.
    fn begin(&mut self, piece: &Piece<'_>) -> Option<usize> {
        if self.is_full || self.open.iter().any(|call| call.takes(piece)) {
            return None;
        }
        let mut call = PartialCall::begin(piece)?;
        if call.id.is_some() {
            self.break_off(|open| open.id == call.id);
        }
        self.is_full = self.open.len() == OPEN_MAX;
        if self.is_full {
            return None;
        }
        call.replaced = std::mem::take(&mut self.given_up);
        self.open.push(call);
        Some(self.open.len() - 1)
    }

    /// Nothing can come any more of these calls. They stay, so that what else comes of them begins no other call.
    fn break_off(&mut self, is_meant: impl Fn(&PartialCall) -> bool) {
        for call in self.open.iter_mut().filter(|call| is_meant(call)) {
            add_to(&mut self.given_up, call.break_off());
            self.has_lost = true;
        }
    }

    /// Takes note of a part that is no piece: behind a complete call, one that cannot be told from it will not be completed.
    pub(super) fn pass(&mut self, part: &Part<'_>) {
        if let Content::ToolCall(whole) = part.content() {
            self.break_off(|call| call.id.is_none() || whole.id.is_none() || call.id == whole.id);
        }
    }

    /// Whether a call that has begun is not complete.
    pub(super) fn lacks_pieces(&self) -> bool {
        self.has_lost || !self.open.is_empty()
    }
}

/// Adds positions to others: the fewer to the more, since one call after another may take over those of all before it.
fn add_to(positions: &mut Vec<usize>, mut more: Vec<usize>) {
    if more.len() > positions.len() {
        std::mem::swap(positions, &mut more);
    }
    positions.append(&mut more);
}

/// How many values the arguments of one call may be put together of: a path of a few bytes makes as many as it has steps.
const VALUES_MAX: usize = 16_384;

/// A call whose arguments are not complete yet.
#[derive(Clone, Debug)]
struct PartialCall {
    id: Option<Text<'static>>,
    name: Text<'static>,
    arguments: Node,
    building: Building,
    semantics: NodeSemantics<'static>,
    positions: Vec<usize>,
    /// Where those of the calls stand that it broke off: they are given up once it is known what becomes of it.
    replaced: Vec<usize>,
    /// Whether some of it is missing for good.
    is_broken: bool,
}

impl PartialCall {
    fn begin(piece: &Piece<'_>) -> Option<Self> {
        Some(Self {
            id: piece.id.clone().map(Text::into_owned),
            name: piece.name.clone()?.into_owned(),
            arguments: Node::default(),
            building: Building { values_left: VALUES_MAX, is_mended: false },
            semantics: NodeSemantics::at(piece.semantics.place()),
            positions: Vec::new(),
            replaced: Vec::new(),
            is_broken: false,
        })
    }

    /// Whether a piece is one of this call: it names no other.
    fn takes(&self, piece: &Piece<'_>) -> bool {
        let is_same_name = piece.name.as_ref().is_none_or(|name| *name == self.name);
        is_same_name && (piece.id.is_none() || piece.id == self.id)
    }

    fn add(&mut self, mut piece: Piece<'_>) -> Result<()> {
        if self.is_broken {
            return Ok(());
        }
        for (path, change) in piece.values? {
            match change {
                Change::Put(value) => self.arguments.put(&path, value, &mut self.building)?,
                Change::End => self.arguments.end(&path),
            }
        }
        self.building.is_mended |= piece.is_mended;
        // One signature is for the whole call.
        if let Some(own) = self.semantics.artefact() {
            let is_other = piece.semantics.artefact().is_some_and(|it| it.data() != own.data());
            self.building.is_mended |= is_other;
            piece.semantics.take_artefact();
        }
        self.semantics.merge(piece.semantics.into_owned());
        self.positions.push(piece.position);
        Ok(())
    }

    /// Nothing can come of it any more; answers where the pieces stand that are given up with it.
    fn break_off(&mut self) -> Vec<usize> {
        self.is_broken = true;
        self.replaced.append(&mut self.positions);
        std::mem::take(&mut self.replaced)
    }

    /// The call, now that all of its pieces are there.
    fn finish(self) -> JoinedCall {
        let Self { id, name, arguments, building, semantics, positions, .. } = self;
        let arguments = Arguments::Json(Json::written(|writer| arguments.write(writer)));
        let call = ToolCall { id, name, arguments, form: CallForm::Function };
        JoinedCall { call, semantics, positions, is_mended: building.is_mended }
    }
}

/// How the arguments of a call come to be.
#[derive(Clone, Copy, Debug)]
struct Building {
    /// For how many more values there is room.
    values_left: usize,
    /// Whether a value took the place of another.
    is_mended: bool,
}

impl Building {
    fn take(&mut self) -> Result<()> {
        let left = self.values_left.checked_sub(1);
        self.values_left = left.ok_or_else(|| odd("fewer values in one call"))?;
        Ok(())
    }
}

/// A value of the arguments so far, or all of them.
#[derive(Clone, Debug)]
enum Node {
    Object(Members),
    List(Vec<Node>),
    Value(Value<'static>),
}

#[derive(Clone, Debug, Default)]
struct Members {
    members: Vec<(String, Node)>,
    names: Index<String>,
}

impl Default for Node {
    fn default() -> Self {
        Self::Object(Members::default())
    }
}

impl Node {
    fn put(&mut self, path: &[Step<'_>], value: Value<'_>, building: &mut Building) -> Result<()> {
        let (step, rest) = path.split_first().ok_or_else(|| odd("a path into the arguments"))?;
        if let Some(next) = rest.first() {
            let empty = || match next {
                Step::Index(_) => Self::List(Vec::new()),
                Step::Key(_) => Self::default(),
            };
            return self.child(step, empty, building)?.0.put(rest, value, building);
        }
        let mut value = Some(value.into_owned());
        let make = || value.take().map_or_else(Self::default, Self::Value);
        let (node, is_new) = self.child(step, make, building)?;
        let Some(value) = value.filter(|_| !is_new) else { return Ok(()) };
        let goes_on = match node {
            Self::Value(known) => known.goes_on_with(&value),
            Self::Object(_) | Self::List(_) => false,
        };
        if !goes_on {
            building.is_mended = true;
            *node = Self::Value(value);
        }
        Ok(())
    }

    /// Takes note that the value at a path is all of it, if there is one.
    fn end(&mut self, path: &[Step<'_>]) {
        let child = match (self, path) {
            (Self::Value(value), []) => {
                value.continues = false;
                return;
            }
            (Self::Object(object), [Step::Key(key), ..]) => {
                object.find(key).map(|position| &mut object.members[position].1)
            }
            (Self::List(nodes), [Step::Index(index), ..]) => nodes.get_mut(*index),
            _ => None,
        };
        if let Some(child) = child {
            child.end(&path[1..]);
        }
    }

    /// The value at a step, made if it is not there yet, and whether it was.
    fn child(
        &mut self,
        step: &Step<'_>,
        make: impl FnOnce() -> Node,
        building: &mut Building,
    ) -> Result<(&mut Node, bool)> {
        self.open(building)?;
        let (node, is_new) = match (self, step) {
            (Self::Object(members), Step::Key(key)) => members.at(key, make),
            (Self::List(nodes), Step::Index(index)) if *index <= nodes.len() => {
                let is_new = *index == nodes.len();
                if is_new {
                    nodes.push(make());
                }
                (&mut nodes[*index], is_new)
            }
            _ => return Err(odd("a path that fits the arguments so far")),
        };
        if is_new {
            building.take()?;
        }
        Ok((node, is_new))
    }

    /// Takes apart an object or a list that came whole.
    fn open(&mut self, building: &mut Building) -> Result<()> {
        let Self::Value(Value { data: Data::Whole(json), .. }) = self else { return Ok(()) };
        *self = match json.kind() {
            Kind::Object => {
                let mut members = Members::default();
                json.reader().object(|key, reader| {
                    building.take()?;
                    let value = Self::of(reader.raw()?);
                    let (node, is_new) = members.at(&key, Self::default);
                    building.is_mended |= !is_new;
                    *node = value;
                    Ok(())
                })?;
                Self::Object(members)
            }
            Kind::Array => Self::List(json.reader().list(|_, reader| {
                building.take()?;
                reader.raw().map(Self::of)
            })?),
            Kind::String | Kind::Number | Kind::Boolean | Kind::Null => return Ok(()),
        };
        Ok(())
    }

    fn of(json: Json<'_>) -> Self {
        let data = match json.reader().string() {
            Ok(text) => Data::Text(text.into_owned()),
            Err(_) => Data::Whole(json.into_owned()),
        };
        Self::Value(Value { data, continues: false })
    }

    /// Whether some of it is still to come.
    fn continues(&self) -> bool {
        match self {
            Self::Object(object) => object.members.iter().any(|(_, node)| node.continues()),
            Self::List(nodes) => nodes.iter().any(Self::continues),
            Self::Value(value) => value.continues,
        }
    }

    fn write(&self, writer: &mut Writer) {
        match self {
            Self::Object(object) => writer.object(|writer| {
                for (key, node) in &object.members {
                    writer.key(key);
                    node.write(writer);
                }
            }),
            Self::List(nodes) => writer.array(|writer| {
                nodes.iter().for_each(|node| node.write(writer));
            }),
            Self::Value(Value { data: Data::Text(text), .. }) => writer.value(text),
            Self::Value(Value { data: Data::Whole(json), .. }) => writer.value(json),
        }
    }
}

impl Members {
    /// The member of a name, made if it is not there yet, and whether it was.
    fn at(&mut self, key: &str, make: impl FnOnce() -> Node) -> (&mut Node, bool) {
        let known = self.find(key);
        let position = known.unwrap_or_else(|| {
            self.members.reserve_exact(usize::from(self.members.is_empty()));
            self.members.push((key.to_owned(), make()));
            self.members.len() - 1
        });
        (&mut self.members[position].1, known.is_none())
    }

    fn find(&mut self, key: &str) -> Option<usize> {
        self.names.last(&self.members, key, |(name, _)| name)
    }
}

/// Whether a piece begins no call, and is not the mere end of one either, which may stand behind a call that is complete.
fn is_orphan(piece: &Piece<'_>) -> bool {
    let is_empty = piece.values.as_ref().is_ok_and(Vec::is_empty);
    piece.name.is_none() && (piece.continues || !is_empty)
}

fn odd(expected: &'static str) -> Error {
    Error::new(ErrorKind::Type, format!("expected {expected}"))
}
