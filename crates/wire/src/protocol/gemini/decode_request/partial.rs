//! Calls whose arguments come in pieces: each piece says by a path into the arguments where it belongs. Pieces that
//! stand in one message are joined here, those of a stream where it is read.

use std::collections::HashMap;

use crate::conversation::{Arguments, CallForm, Content, Part, ToolCall};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Json, Kind, Reader, Text, Writer};
use crate::place::Place;
use crate::protocol::gemini::decode_request::opaque_part;
use crate::protocol::gemini::types::{CALL_PIECE, CALL_PIECES, PIECE_KEY, SELF, WILL_CONTINUE};
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::{Artefact, ArtefactKind};

/// Reads a piece of a call, if the part is one: it has pieces of arguments, says that more follow, or names no function.
pub(in super::super) fn call_piece<'a>(
    reader: &mut Reader<'a>,
    place: Place,
) -> Result<Option<Part<'a>>> {
    let (mut piece, mut signature) = (None, None);
    reader.object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("functionCall" | "function_call", Kind::Object) => piece = Some(Piece::read(reader)?),
            ("thoughtSignature" | "thought_signature", Kind::String) => {
                signature = Some(reader.string()?);
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let Some(piece) = piece.filter(Piece::is_one) else { return Ok(None) };
    let mut semantics = NodeSemantics::at(place).shaped(CALL_PIECE);
    if piece.continues {
        semantics.add_shape(WILL_CONTINUE);
    }
    if let Some(signature) = signature {
        semantics.set_artefact(Artefact::read(SELF, ArtefactKind::Signature, signature));
    }
    let call = ToolCall {
        id: piece.id,
        name: piece.name.unwrap_or_default(),
        arguments: Arguments::Json(piece.arguments.unwrap_or(Json::literal("[]"))),
        form: CallForm::Function,
    };
    Ok(Some(Part::new(Content::ToolCall(Box::new(call))).with_semantics(semantics)))
}

/// A call, or a piece of one.
#[derive(Default)]
struct Piece<'a> {
    id: Option<Text<'a>>,
    name: Option<Text<'a>>,
    /// The pieces of the arguments.
    arguments: Option<Json<'a>>,
    continues: bool,
    is_whole: bool,
}

impl<'a> Piece<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let mut piece = Self::default();
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("id", Kind::String) => piece.id = Some(reader.string()?),
                ("name", Kind::String) => piece.name = Some(reader.string()?),
                // What is no list has no pieces that could be joined, and is no complete call all the same.
                ("partialArgs" | "partial_args", kind) if kind != Kind::Null => {
                    piece.arguments = Some(reader.raw()?);
                }
                ("willContinue" | "will_continue", Kind::Boolean) => {
                    piece.continues = reader.boolean()?;
                }
                ("args", _) => {
                    piece.is_whole = true;
                    reader.skip()?;
                }
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(piece)
    }

    fn is_one(&self) -> bool {
        let is_partial = self.arguments.is_some() || self.name.is_none();
        self.continues || is_partial && !self.is_whole
    }
}

/// Whether what was read of a part may be a piece of a call.
pub(in super::super) fn may_be_piece(read: &Result<Part<'_>>) -> bool {
    match read {
        Ok(part) => call_of(part).is_some() && part.semantics().extras().is_some(),
        Err(_) => true,
    }
}

/// Reads a piece of a call that stands among all the others: the part is kept as it was written.
pub(in super::super) fn kept_piece<'a>(reader: &mut Reader<'a>, place: Place) -> Option<Part<'a>> {
    let mut piece = call_piece(&mut reader.checkpoint(), place).ok()??;
    piece.semantics_mut().extras_mut().keep(CALL_PIECES, PIECE_KEY.into(), reader.raw().ok()?);
    Some(piece)
}

/// Parts, the pieces of each call joined, and whether a call lacks some. What is left of such a call is nothing to act on: its
/// pieces stay as they were written, and are no call.
pub(in super::super) fn join_pieces(parts: Vec<Part<'_>>) -> (Vec<Part<'_>>, bool) {
    if !parts.iter().any(is_piece) {
        return (parts, false);
    }
    let (mut all, mut is_cut) = (Vec::with_capacity(parts.len()), false);
    let mut rest = parts.into_iter().peekable();
    while let Some(part) = rest.next() {
        if !is_piece(&part) {
            all.push(part);
            continue;
        }
        let mut pieces = vec![part];
        while let Some(next) = rest.next_if(|next| goes_on(pieces.last(), next)) {
            pieces.push(next);
        }
        match joined(&pieces) {
            Some(call) => all.push(call),
            None => {
                is_cut |= !pieces.iter().all(is_mere_end);
                all.extend(pieces.into_iter().filter_map(as_written));
            }
        }
    }
    (all, is_cut)
}

pub(super) fn is_piece(part: &Part<'_>) -> bool {
    part.semantics().has_shape(CALL_PIECE)
}

fn continues(part: &Part<'_>) -> bool {
    part.semantics().has_shape(WILL_CONTINUE)
}

/// Whether a piece goes on with the call before it, and begins none.
pub(super) fn goes_on(before: Option<&Part<'_>>, piece: &Part<'_>) -> bool {
    let is_nameless = || call_of(piece).is_some_and(|call| call.name.is_empty());
    before.is_some_and(continues) && is_piece(piece) && is_nameless()
}

/// Whether it is the end of a call and nothing else, which may stand behind one that is complete.
fn is_mere_end(piece: &Part<'_>) -> bool {
    let is_empty = |call: &ToolCall<'_>| match &call.arguments {
        Arguments::Json(pieces) => call.name.is_empty() && pieces.as_str() == "[]",
        Arguments::Text(_) => false,
    };
    !continues(piece) && call_of(piece).is_some_and(is_empty)
}

fn call_of<'p, 'a>(part: &'p Part<'a>) -> Option<&'p ToolCall<'a>> {
    match part.content() {
        Content::ToolCall(call) => Some(call),
        _ => None,
    }
}

/// The call that pieces amount to, if none is missing and each has its place.
fn joined<'a>(pieces: &[Part<'a>]) -> Option<Part<'a>> {
    let (first, last) = (pieces.first()?, pieces.last()?);
    let begun = call_of(first).filter(|call| !call.name.is_empty())?;
    if continues(last) {
        return None;
    }
    let mut partial = PartialCall::begin(begun, NodeSemantics::default());
    let mut semantics = first.semantics().clone();
    for piece in pieces {
        partial.add(call_of(piece)?).ok()?;
    }
    let more = pieces[1..].iter().flat_map(|piece| piece.semantics().extras());
    for written in more.flat_map(|extras| extras.within(CALL_PIECES)) {
        semantics.extras_mut().keep(CALL_PIECES, PIECE_KEY.into(), written.json.clone());
    }
    let (call, _) = partial.finish();
    Some(Part::new(Content::ToolCall(Box::new(call))).with_semantics(semantics))
}

/// A piece as the part that it was.
fn as_written(piece: Part<'_>) -> Option<Part<'_>> {
    let (extras, place) = (piece.semantics().extras()?, piece.semantics().place());
    let written = extras.within(CALL_PIECES).next()?.json.clone();
    Some(opaque_part(Text::literal("functionCall"), written, place))
}

/// A call whose arguments are not complete yet.
#[derive(Debug)]
pub(in super::super) struct PartialCall {
    call: ToolCall<'static>,
    semantics: NodeSemantics<'static>,
    arguments: Node,
}

impl PartialCall {
    /// Begins with the first piece of a call, whose arguments are still to be added.
    pub(in super::super) fn begin(call: &ToolCall<'_>, semantics: NodeSemantics<'_>) -> Self {
        let (call, semantics) = (call.clone().into_owned(), semantics.into_owned());
        Self { call, semantics, arguments: Node::default() }
    }

    pub(in super::super) fn add(&mut self, call: &ToolCall<'_>) -> Result<()> {
        match &call.arguments {
            Arguments::Json(pieces) => self.arguments.add(pieces),
            Arguments::Text(_) => Ok(()),
        }
    }

    /// The call, now that all of it is there.
    pub(in super::super) fn finish(self) -> (ToolCall<'static>, NodeSemantics<'static>) {
        let arguments = Arguments::Json(self.arguments.into_json());
        (ToolCall { arguments, ..self.call }, self.semantics)
    }
}

/// A value of the arguments, or all of them.
#[derive(Debug)]
enum Node {
    Object(Members),
    List(Vec<Node>),
    /// A string, which more pieces may lengthen.
    Text(Text<'static>),
    /// A number, a truth value or null.
    Plain(Json<'static>),
}

#[derive(Debug, Default)]
struct Members {
    members: Vec<(String, Node)>,
    positions: HashMap<String, usize>,
}

impl Default for Node {
    fn default() -> Self {
        Self::Object(Members::default())
    }
}

/// One step of a path.
enum Step<'p> {
    Key(&'p str),
    Index(usize),
}

/// How deep a path may lead.
const STEPS_MAX: usize = 64;

impl Node {
    /// Puts the pieces of a list in their places.
    fn add(&mut self, pieces: &Json<'_>) -> Result<()> {
        pieces.reader().array(|_, reader| self.piece(reader))
    }

    fn piece(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let (mut path, mut value) = (None, None);
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("jsonPath" | "json_path", Kind::String) => path = Some(reader.string()?),
                ("stringValue" | "string_value", Kind::String) => {
                    value = Some(Node::Text(reader.string()?.into_owned()));
                }
                ("numberValue" | "number_value" | "boolValue" | "bool_value", _) => {
                    value = Some(Node::Plain(reader.raw()?.into_owned()));
                }
                ("nullValue" | "null_value", _) => {
                    reader.skip()?;
                    value = Some(Node::Plain(Json::literal("null")));
                }
                (key, _) if key.ends_with("Value") || key.ends_with("_value") => {
                    return Err(odd("a piece of a known type"));
                }
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        let (path, value) = match (path, value) {
            (Some(path), Some(value)) => (path, value),
            (None, Some(_)) => return Err(odd("a piece with a path")),
            // A path alone ends what came before it.
            (_, None) => return Ok(()),
        };
        let path = path.to_str();
        let steps = steps(&path).ok_or_else(|| odd("a path into the arguments"))?;
        self.put(&steps, value)
    }

    fn into_json(self) -> Json<'static> {
        Json::written(|writer| self.write(writer))
    }

    fn put(&mut self, steps: &[Step<'_>], value: Node) -> Result<()> {
        let Some((step, rest)) = steps.split_first() else {
            match (self, value) {
                (Self::Text(text), Self::Text(more)) => text.push(&more),
                (node, value) => *node = value,
            }
            return Ok(());
        };
        self.child(step, rest)?.put(rest, value)
    }

    /// The value at a step, made if it is not there yet.
    fn child(&mut self, step: &Step<'_>, rest: &[Step<'_>]) -> Result<&mut Node> {
        let empty = || match rest.first() {
            Some(Step::Key(_)) => Self::default(),
            Some(Step::Index(_)) => Self::List(Vec::new()),
            None => Self::Text(Text::default()),
        };
        match (self, step) {
            (Self::Object(members), Step::Key(key)) => Ok(members.at(key, empty)),
            (Self::List(nodes), Step::Index(index)) if *index <= nodes.len() => {
                if *index == nodes.len() {
                    nodes.push(empty());
                }
                Ok(&mut nodes[*index])
            }
            _ => Err(odd("a path that fits the arguments so far")),
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
            Self::Plain(json) => writer.value(json),
        }
    }
}

impl Members {
    fn at(&mut self, key: &str, empty: impl FnOnce() -> Node) -> &mut Node {
        let position = match self.positions.get(key) {
            Some(position) => *position,
            None => {
                self.positions.insert(key.to_owned(), self.members.len());
                self.members.push((key.to_owned(), empty()));
                self.members.len() - 1
            }
        };
        &mut self.members[position].1
    }
}

/// The steps of a path such as `$.ports[0].name` or `$['a b']`.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() && steps.len() < STEPS_MAX {
        let (step, behind) = step(rest)?;
        steps.push(step);
        rest = behind;
    }
    rest.is_empty().then_some(steps)
}

fn step(path: &str) -> Option<(Step<'_>, &str)> {
    if let Some(rest) = path.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        return (end > 0).then(|| (Step::Key(&rest[..end]), &rest[end..]));
    }
    let rest = path.strip_prefix('[')?;
    for quote in ['\'', '"'] {
        if let Some(quoted) = rest.strip_prefix(quote) {
            let end = quoted.find(quote)?;
            return Some((Step::Key(&quoted[..end]), quoted[end + 1..].strip_prefix(']')?));
        }
    }
    let end = rest.find(']')?;
    Some((Step::Index(rest[..end].parse().ok()?), &rest[end + 1..]))
}

fn odd(expected: &'static str) -> Error {
    Error::new(ErrorKind::Type, format!("expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(pieces: &[&str]) -> Result<String> {
        let mut arguments = Node::default();
        for pieces in pieces {
            arguments.add(&Json::parse(*pieces)?)?;
        }
        Ok(arguments.into_json().as_str().to_owned())
    }

    #[test]
    fn pieces_come_to_stand_at_their_paths() {
        let pieces = [
            r#"[{"jsonPath":"$.port","stringValue":"Po","willContinue":true}]"#,
            r#"[{"jsonPath":"$.port","stringValue":"rto"},{"jsonPath":"$.days[0].of","numberValue":6}]"#,
            r#"[{"jsonPath":"$.days[1]['a b']","boolValue":true},{"jsonPath":"$.x","nullValue":"NULL_VALUE"}]"#,
        ];
        let expected = r#"{"port":"Porto","days":[{"of":6},{"a b":true}],"x":null}"#;
        assert_eq!(joined(&pieces).unwrap(), expected);
        assert_eq!(joined(&[]).unwrap(), "{}");
    }

    #[test]
    fn pieces_that_cannot_be_read_are_refused() {
        for piece in [
            r#"{"jsonPath":"$.a","structValue":{"x":1}}"#,
            r#"{"jsonPath":"$.a","stringValue":5}"#,
            r#"{"stringValue":"x"}"#,
            "5",
        ] {
            assert!(joined(&[&format!("[{piece}]")]).is_err(), "{piece}");
        }
        assert!(joined(&[r#"{"jsonPath":"$.a","stringValue":"x"}"#]).is_err());
    }

    #[test]
    fn paths_that_lead_nowhere_are_refused() {
        for path in ["port", "$.", "$[9]", "$.a[1]", "$['a", "$.a[x]"] {
            let piece = format!(r#"[{{"jsonPath":"{path}","stringValue":"x"}}]"#);
            assert!(joined(&[&piece]).is_err(), "{path}");
        }
    }
}
