//! Calls that come in pieces: which pieces belong to one call, and what their arguments amount to. How a piece is written is a
//! matter of its protocol.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::conversation::{Arguments, CallForm, Content, Part, ToolCall};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Json, Kind, Text, Writer};
use crate::protocol::semantics::NodeSemantics;

/// A piece of a call.
pub(super) struct Piece<'a> {
    pub(super) id: Option<Text<'a>>,
    pub(super) name: Option<Text<'a>>,
    /// What it adds to the arguments, unless that cannot be read.
    pub(super) values: Result<Vec<(Vec<Step<'a>>, Value<'a>)>>,
    /// Whether more pieces of the call follow.
    pub(super) continues: bool,
    /// Where it stands among the parts of its message.
    pub(super) position: usize,
    /// Whether a value is not of the type that it states, and was read all the same.
    pub(super) is_mended: bool,
    pub(super) semantics: NodeSemantics<'a>,
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

/// A value of the arguments.
pub(super) enum Value<'a> {
    /// A string, or some of it.
    Text(Text<'a>),
    Whole(Json<'a>),
}

impl Step<'_> {
    pub(super) fn into_owned(self) -> Step<'static> {
        match self {
            Self::Key(key) => Step::Key(Cow::Owned(key.into_owned())),
            Self::Index(index) => Step::Index(index),
        }
    }
}

/// Joins the pieces of calls, in the order in which they come. Fixture `answer/tools/gemini-pieces-of-no-known-value`.
#[derive(Clone, Debug, Default)]
pub(super) struct Joiner {
    /// A call of which more is to come.
    open: Option<Box<PartialCall>>,
    /// Whether a call was never completed: what there is of one is nothing to act on.
    has_lost: bool,
}

impl Joiner {
    /// Adds a piece; answers the call if that was its last one.
    pub(super) fn add(&mut self, piece: Piece<'_>) -> Option<JoinedCall> {
        let continues = piece.continues;
        let mut call = match self.open.take() {
            Some(call) if call.takes(&piece) => call,
            before => {
                self.has_lost |= before.is_some() || is_orphan(&piece);
                Box::new(PartialCall::begin(&piece)?)
            }
        };
        if call.add(piece).is_err() {
            self.has_lost = true;
            return None;
        }
        if continues {
            self.open = Some(call);
            return None;
        }
        Some(call.finish())
    }

    /// Takes note of a part that is no piece: with a complete call, the one before it will not be completed any more.
    pub(super) fn pass(&mut self, part: &Part<'_>) {
        if matches!(part.content(), Content::ToolCall(_)) {
            self.has_lost |= self.open.take().is_some();
        }
    }

    /// Whether a call that has begun is not complete.
    pub(super) fn lacks_pieces(&self) -> bool {
        self.has_lost || self.open.is_some()
    }
}

/// How many values the arguments of one call may be put together of: a path of a few bytes makes as many as it has steps.
const VALUES_MAX: usize = 16_384;

/// A call whose arguments are not complete yet.
#[derive(Clone, Debug)]
struct PartialCall {
    id: Option<Text<'static>>,
    name: Text<'static>,
    arguments: Node,
    room: Room,
    semantics: NodeSemantics<'static>,
    positions: Vec<usize>,
    is_mended: bool,
}

impl PartialCall {
    fn begin(piece: &Piece<'_>) -> Option<Self> {
        Some(Self {
            id: piece.id.clone().map(Text::into_owned),
            name: piece.name.clone()?.into_owned(),
            arguments: Node::default(),
            room: Room(VALUES_MAX),
            semantics: NodeSemantics::at(piece.semantics.place()),
            positions: Vec::new(),
            is_mended: false,
        })
    }

    /// Whether a piece is one of this call: it names no other.
    fn takes(&self, piece: &Piece<'_>) -> bool {
        let is_same_name = piece.name.as_ref().is_none_or(|name| *name == self.name);
        is_same_name && (piece.id.is_none() || piece.id == self.id)
    }

    fn add(&mut self, mut piece: Piece<'_>) -> Result<()> {
        for (path, value) in piece.values? {
            self.is_mended |= self.arguments.put(&path, value, &mut self.room)? == Put::Instead;
        }
        self.is_mended |= piece.is_mended;
        // One signature is for the whole call.
        if self.semantics.artefact().is_some() {
            piece.semantics.take_artefact();
        }
        self.semantics.merge(piece.semantics.into_owned());
        self.positions.push(piece.position);
        Ok(())
    }

    /// The call, now that all of it is there.
    fn finish(self) -> JoinedCall {
        let Self { id, name, arguments, semantics, positions, is_mended, .. } = self;
        let arguments = Arguments::Json(Json::written(|writer| arguments.write(writer)));
        let call = ToolCall { id, name, arguments, form: CallForm::Function };
        JoinedCall { call, semantics, positions, is_mended }
    }
}

/// For how many more values there is room.
#[derive(Clone, Copy, Debug)]
struct Room(usize);

impl Room {
    fn take(&mut self) -> Result<()> {
        self.0 = self.0.checked_sub(1).ok_or_else(|| odd("fewer values in one call"))?;
        Ok(())
    }
}

/// A value of the arguments so far, or all of them.
#[derive(Clone, Debug)]
enum Node {
    Object(Members),
    List(Vec<Node>),
    /// A string, which more pieces may lengthen.
    Text(Text<'static>),
    Whole(Json<'static>),
}

#[derive(Clone, Debug, Default)]
struct Members {
    members: Vec<(String, Node)>,
    /// Where they stand, if there are more than a few.
    positions: HashMap<String, usize>,
}

impl Default for Node {
    fn default() -> Self {
        Self::Object(Members::default())
    }
}

/// What became of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Put {
    /// It stands beside all that was there, or goes on with it.
    Beside,
    /// It took the place of another.
    Instead,
}

impl Node {
    fn put(&mut self, path: &[Step<'_>], value: Value<'_>, room: &mut Room) -> Result<Put> {
        let (step, rest) = path.split_first().ok_or_else(|| odd("a path into the arguments"))?;
        if rest.is_empty() {
            return self.put_child(step, value, room);
        }
        let empty = match rest.first() {
            Some(Step::Index(_)) => Self::List(Vec::new()),
            Some(Step::Key(_)) | None => Self::default(),
        };
        self.child(step, || empty, room)?.0.put(rest, value, room)
    }

    fn put_child(&mut self, step: &Step<'_>, value: Value<'_>, room: &mut Room) -> Result<Put> {
        let value = match value {
            Value::Text(text) => Self::Text(text.into_owned()),
            Value::Whole(json) => Self::Whole(json.into_owned()),
        };
        let mut value = Some(value);
        let (node, is_new) = self.child(step, || value.take().unwrap_or_default(), room)?;
        let Some(value) = value.filter(|_| !is_new) else { return Ok(Put::Beside) };
        match (node, value) {
            (Self::Text(text), Self::Text(more)) => text.push(&more),
            (Self::Whole(json), Self::Whole(again)) if json.same_value(&again) => {}
            (node, value) => {
                *node = value;
                return Ok(Put::Instead);
            }
        }
        Ok(Put::Beside)
    }

    /// The value at a step, made if it is not there yet, and whether it was.
    fn child(
        &mut self,
        step: &Step<'_>,
        make: impl FnOnce() -> Node,
        room: &mut Room,
    ) -> Result<(&mut Node, bool)> {
        self.open(room)?;
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
            room.take()?;
        }
        Ok((node, is_new))
    }

    /// Takes apart an object or a list that came whole.
    fn open(&mut self, room: &mut Room) -> Result<()> {
        let Self::Whole(json) = self else { return Ok(()) };
        *self = match json.kind() {
            Kind::Object => {
                let mut members = Members::default();
                json.reader().object(|key, reader| {
                    room.take()?;
                    let value = Self::of(reader.raw()?);
                    *members.at(&key, Self::default).0 = value;
                    Ok(())
                })?;
                Self::Object(members)
            }
            Kind::Array => {
                let mut nodes = Vec::new();
                json.reader().array(|_, reader| {
                    room.take()?;
                    nodes.push(Self::of(reader.raw()?));
                    Ok(())
                })?;
                Self::List(nodes)
            }
            Kind::String | Kind::Number | Kind::Boolean | Kind::Null => return Ok(()),
        };
        Ok(())
    }

    fn of(json: Json<'_>) -> Self {
        match json.reader().string() {
            Ok(text) => Self::Text(text.into_owned()),
            Err(_) => Self::Whole(json.into_owned()),
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
            Self::Text(text) => writer.value(text),
            Self::Whole(json) => writer.value(json),
        }
    }
}

/// So few members are found by looking at each.
const FEW: usize = 8;

impl Members {
    /// The member of a name, made if it is not there yet, and whether it was.
    fn at(&mut self, key: &str, make: impl FnOnce() -> Node) -> (&mut Node, bool) {
        let known = self.find(key);
        let position = known.unwrap_or_else(|| self.add(key, make()));
        (&mut self.members[position].1, known.is_none())
    }

    fn find(&self, key: &str) -> Option<usize> {
        match self.members.len() <= FEW {
            true => self.members.iter().position(|(name, _)| name == key),
            false => self.positions.get(key).copied(),
        }
    }

    fn add(&mut self, key: &str, node: Node) -> usize {
        let position = self.members.len();
        self.members.reserve_exact(usize::from(position == 0));
        self.members.push((key.to_owned(), node));
        if position >= FEW {
            let from = if position == FEW { 0 } else { position };
            let named = self.members.iter().enumerate().skip(from);
            self.positions.extend(named.map(|(position, (name, _))| (name.clone(), position)));
        }
        position
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
