//! Reading calls that come in pieces: a piece says by paths into the arguments where its values belong. Pieces that stand in
//! one message are joined here, those of a stream where it is read.

use std::collections::HashMap;

use crate::conversation::{BROKEN_CALL, Content, Part, Parts, ToolCall};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Json, Kind, Reader, Text};
use crate::place::Place;
use crate::protocol::gemini::decode_request::part::{content_part, opaque_part};
use crate::protocol::gemini::decode_request::path::steps;
use crate::protocol::gemini::types::{
    APART_FROM_PIECES, CALL_PIECES, CALL_PIECES_KEPT, PIECE_KEY, SELF, Shape,
};
use crate::protocol::object::{Members, read_object, set};
use crate::protocol::partial_call::{Added, Change, Data, JoinedCall, Joiner, Piece, Step, Value};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::{Artefact, ArtefactKind};

/// What stands in the place of a part.
pub(in super::super) enum PartOrPiece<'a> {
    Part(Part<'a>),
    Piece(Box<WrittenPiece<'a>>),
}

/// A piece of a call, and the part that it is.
pub(in super::super) struct WrittenPiece<'a> {
    pub(in super::super) piece: Piece<'a>,
    pub(in super::super) json: Json<'a>,
}

impl<'a> WrittenPiece<'a> {
    /// The piece, and the part that it is as long as it is of no call.
    pub(in super::super) fn into_parts(self) -> (Piece<'a>, Part<'a>) {
        let Self { piece, json } = self;
        let place = piece.semantics.place();
        (piece, unjoined(json, place))
    }
}

/// The part that a piece is of which no call was made.
pub(in super::super) fn unjoined(json: Json<'_>, place: Place) -> Part<'_> {
    opaque_part(Text::literal(BROKEN_CALL), json, place)
}

/// Reads a part, if only a piece of a call; or says why it is neither.
pub(in super::super) fn part_or_piece<'a>(
    reader: &mut Reader<'a>,
    place: Place,
) -> Result<PartOrPiece<'a>> {
    let start = reader.checkpoint();
    let read = content_part(reader, place);
    let may_be_piece = match &read {
        Ok(part) => {
            matches!(part.content(), Content::ToolCall(_)) && part.semantics().extras().is_some()
        }
        Err(_) => true,
    };
    if may_be_piece && let Some(piece) = written_piece(&mut start.checkpoint(), place) {
        *reader = start;
        reader.skip()?;
        return Ok(PartOrPiece::Piece(Box::new(piece)));
    }
    read.map(PartOrPiece::Part)
}

fn written_piece<'a>(reader: &mut Reader<'a>, place: Place) -> Option<WrittenPiece<'a>> {
    let mut draft = PieceDraft::default();
    let mut extras = Extras::default();
    let json = reader.checkpoint().raw().ok()?;
    read_object(reader, "", &mut extras, |key, reader| draft.part(key, reader)).ok()?;
    let piece = draft.finish(NodeSemantics::at(place).keeping(extras))?;
    Some(WrittenPiece { piece, json })
}

/// The parts of a message, the pieces of each call joined where the last of them stands. What there is of a call that lacks
/// some is nothing to act on: its pieces stay as they were written, and are no call.
#[derive(Default)]
pub(in super::super) struct Joining<'a> {
    /// The parts as they were written, pieces of calls too.
    parts: Parts<'a>,
    joiner: Joiner,
    calls: Vec<JoinedCall>,
}

impl<'a> Joining<'a> {
    pub(in super::super) fn push(&mut self, next: PartOrPiece<'a>) {
        match next {
            PartOrPiece::Part(part) => {
                self.joiner.pass(&part);
                self.parts.push(part);
            }
            PartOrPiece::Piece(piece) => {
                let (mut piece, written) = piece.into_parts();
                piece.position = self.parts.len();
                self.parts.push(written);
                if let Added::Call(call) = self.joiner.add(piece) {
                    self.calls.push(*call);
                }
            }
        }
    }

    /// The parts, and whether a call lacks pieces.
    pub(in super::super) fn finish(self) -> (Parts<'a>, bool) {
        let parts = match self.calls.is_empty() {
            true => self.parts,
            false => joined(self.parts, self.calls),
        };
        (parts, self.joiner.lacks_pieces())
    }
}

/// Parts with calls in the place of their pieces. Those are kept on the part behind them, to be written again.
fn joined<'a>(parts: Parts<'a>, calls: Vec<JoinedCall>) -> Parts<'a> {
    let mut pieces: Vec<usize> =
        calls.iter().flat_map(|call| call.positions.iter().copied()).collect();
    // Those of several calls may come by turns.
    pieces.sort_unstable();
    let (mut pieces, mut calls) = (pieces.into_iter().peekable(), calls.into_iter().peekable());
    let (mut joined, mut before) = (Parts::default(), Vec::new());
    for (position, written) in parts.into_iter().enumerate() {
        let is_piece = pieces.next_if_eq(&position).is_some();
        let call = calls.next_if(|call| call.positions.last() == Some(&position));
        if let (true, Content::Opaque(opaque)) = (is_piece, written.content()) {
            before.push(opaque.json.clone());
        }
        let is_apart = !is_piece && matches!(written.content(), Content::ToolCall(_));
        let mut part = match (call, is_piece) {
            (Some(call), _) => call_part(call),
            (None, false) => written,
            (None, true) => continue,
        };
        if is_apart {
            part.semantics_mut().add_shape(APART_FROM_PIECES);
        }
        for json in before.drain(..) {
            part.semantics_mut().add_shape(CALL_PIECES_KEPT);
            part.semantics_mut().extras_mut().keep(CALL_PIECES, PIECE_KEY.into(), json);
        }
        joined.push(part);
    }
    joined
}

/// The pieces of calls that are kept on a part. A null is what a piece stated, and none.
pub(in super::super) fn kept_pieces<'p>(part: &'p Part<'_>) -> impl Iterator<Item = &'p Json<'p>> {
    let has_pieces = part.semantics().has_shape(CALL_PIECES_KEPT);
    let extras = part.semantics().extras().filter(|_| has_pieces);
    let kept = extras.into_iter().flat_map(|all| all.within(CALL_PIECES));
    kept.filter(|extra| extra.key == PIECE_KEY && !extra.json.is_null()).map(|extra| &extra.json)
}

/// Whether a call is written by the pieces that are kept on its part.
pub(in super::super) fn is_in_pieces(part: &Part<'_>) -> bool {
    !part.semantics().has_shape(APART_FROM_PIECES) && kept_pieces(part).next().is_some()
}

/// The calls that the pieces which are kept on the parts of a message make up.
pub(in super::super) fn rejoined<'p>(
    parts: impl Iterator<Item = &'p Part<'p>>,
) -> Vec<ToolCall<'static>> {
    let (mut joiner, mut calls) = (Joiner::default(), Vec::new());
    for part in parts {
        let unjoined = match part.content() {
            Content::Opaque(opaque) if opaque.protocol == SELF => Some(&opaque.json),
            _ => None,
        };
        for json in kept_pieces(part).chain(unjoined) {
            let piece = written_piece(&mut json.reader(), part.semantics().place());
            let added = piece.map(|piece| joiner.add(piece.into_parts().0));
            if let Some(Added::Call(joined)) = added {
                calls.push(joined.call);
            }
        }
        if !is_in_pieces(part) {
            joiner.pass(part);
        }
    }
    calls
}

/// A call that was joined.
pub(in super::super) fn call_part<'a>(joined: JoinedCall) -> Part<'a> {
    let mut semantics = joined.semantics;
    if joined.is_mended {
        semantics.add_shape(Shape::MENDED);
    }
    Part::new(Content::ToolCall(Box::new(joined.call))).with_semantics(semantics)
}

/// A piece that is being read.
#[derive(Default)]
struct PieceDraft<'a> {
    signature: Option<Text<'a>>,
    id: Option<Text<'a>>,
    name: Option<Text<'a>>,
    /// How often there are arguments as they are, and pieces of them.
    members_count: usize,
    pieces_count: usize,
    values: Values<'a>,
    /// Why they cannot be read.
    error: Option<Error>,
    continues: bool,
    is_call: bool,
}

impl<'a> PieceDraft<'a> {
    /// Reads a member of the part.
    fn part(&mut self, key: &str, reader: &mut Members<'_, 'a>) -> Result<()> {
        match (key, reader.kind()?) {
            ("functionCall" | "function_call", Kind::Object) => {
                self.is_call = true;
                reader.inside(CALL_PIECES, |key, reader| self.call(key, reader))
            }
            ("thoughtSignature" | "thought_signature", Kind::String) => {
                set(&mut self.signature, reader.string())
            }
            _ => Ok(()),
        }
    }

    /// Reads a member of its call.
    fn call(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<()> {
        match (key, reader.kind()?) {
            ("id", Kind::String) => {
                self.id = Some(reader.string()?).filter(|id| !id.is_empty());
            }
            ("name", Kind::String) => {
                self.name = Some(reader.string()?).filter(|name| !name.is_empty());
            }
            ("args", _) => {
                self.members_count += 1;
                self.values(reader, Values::members)?;
            }
            ("partialArgs" | "partial_args", _) => {
                self.pieces_count += 1;
                self.values(reader, Values::pieces)?;
            }
            ("willContinue" | "will_continue", kind) if kind != Kind::Null => {
                let read = self.values.flag(&mut reader.checkpoint());
                // Where it cannot be read, nobody knows whether the call is complete.
                self.continues = *read.as_ref().unwrap_or(&true);
                self.error = self.error.take().or(read.err());
                reader.skip()?;
            }
            _ => {}
        }
        Ok(())
    }

    fn values(
        &mut self,
        reader: &mut Reader<'a>,
        read: fn(&mut Values<'a>, &mut Reader<'a>) -> Result<()>,
    ) -> Result<()> {
        let read = read(&mut self.values, &mut reader.checkpoint());
        self.error = self.error.take().or(read.err());
        reader.skip()
    }

    /// The piece, if it is one: it has pieces of arguments, says that more follow, or names no function.
    fn finish(self, mut semantics: NodeSemantics<'a>) -> Option<Piece<'a>> {
        let has_pieces = self.pieces_count > 0;
        if !(self.continues || has_pieces || self.is_call && self.name.is_none()) {
            return None;
        }
        if let Some(signature) = self.signature {
            semantics.set_artefact(Artefact::read(SELF, ArtefactKind::Signature, signature));
        }
        // Of arguments that are stated again, nobody can know which were meant.
        let is_again = self.members_count > 1 || self.pieces_count > 1;
        let error = self.error.or_else(|| is_again.then(|| odd("arguments once")));
        let Values { all, are_mended, .. } = self.values;
        Some(Piece {
            id: self.id,
            name: self.name,
            values: error.map_or(Ok(all), Err),
            continues: self.continues,
            position: 0,
            is_mended: are_mended,
            semantics,
        })
    }
}

/// The values that a piece adds to the arguments.
#[derive(Default)]
struct Values<'a> {
    all: Vec<(Vec<Step<'a>>, Change<'a>)>,
    /// How many steps their paths have together.
    steps: usize,
    are_mended: bool,
}

impl<'a> Values<'a> {
    /// Reads arguments that come as they are, which pieces may go on with. Of two of a name the last holds.
    fn members(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        let mut positions = HashMap::new();
        reader.object(|key, reader| {
            let data = match reader.kind()? {
                Kind::String => Data::Text(reader.string()?),
                _ => Data::Whole(reader.raw()?),
            };
            let change = Change::Put(Value { data, continues: false });
            match positions.insert(key.clone(), self.all.len()) {
                Some(earlier) => {
                    self.are_mended = true;
                    positions.insert(key, earlier);
                    self.all[earlier].1 = change;
                }
                None => self.all.push((vec![Step::Key(key)], change)),
            }
            Ok(())
        })
    }

    /// Reads pieces of arguments: a list, or the one object that the vendor takes for a list of one.
    fn pieces(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        match reader.kind()? {
            Kind::Object => self.piece(reader),
            _ => reader.array(|_, reader| self.piece(reader)),
        }
    }

    fn piece(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (mut path, mut data, mut continues) = (None, None, None);
        reader.object(|key, reader| {
            let read = match (&*key, reader.kind()?) {
                ("nullValue" | "null_value", _) => null(reader)?,
                (_, Kind::Null) => return reader.skip(),
                ("jsonPath" | "json_path", _) => return once(&mut path, reader.string()?),
                ("willContinue" | "will_continue", _) => {
                    return once(&mut continues, self.flag(reader)?);
                }
                ("stringValue" | "string_value", _) => Data::Text(reader.string()?),
                ("numberValue" | "number_value", _) => {
                    Data::Whole(self.of_kind(reader, Kind::Number)?)
                }
                ("boolValue" | "bool_value", _) => {
                    Data::Whole(self.of_kind(reader, Kind::Boolean)?)
                }
                (key, _) if key.ends_with("Value") || key.ends_with("_value") => {
                    return Err(odd("a piece of a known type"));
                }
                _ => return reader.skip(),
            };
            once(&mut data, read)
        })?;
        let change = match (data, continues.unwrap_or_default()) {
            (Some(data), continues) => Change::Put(Value { data, continues }),
            // What comes is not there yet.
            (None, true) => {
                Change::Put(Value { data: Data::Text(Text::default()), continues: true })
            }
            (None, false) => Change::End,
        };
        self.change(path, change)
    }

    fn change(&mut self, path: Option<Text<'a>>, change: Change<'a>) -> Result<()> {
        let path = path.map(|path| steps(path.into_str()));
        let (path, is_proper) = match (path, &change) {
            (Some(Some(path)), _) => path,
            // A path that leads nowhere has nothing to end.
            (_, Change::End) => return Ok(()),
            (Some(None), _) => return Err(odd("a path")),
            (None, _) => return Err(odd("a piece with a path")),
        };
        self.are_mended |= !is_proper;
        self.steps += path.len();
        if self.steps > ALL_STEPS_MAX {
            return Err(odd("fewer steps in the paths of one piece"));
        }
        self.all.push((path, change));
        Ok(())
    }

    /// Reads whether more follows.
    fn flag(&mut self, reader: &mut Reader<'a>) -> Result<bool> {
        self.of_kind(reader, Kind::Boolean)?.reader().boolean()
    }

    /// Reads a value of a kind; one that is quoted is of that kind too.
    fn of_kind(&mut self, reader: &mut Reader<'a>, kind: Kind) -> Result<Json<'a>> {
        let json = match reader.kind()? {
            Kind::String => {
                self.are_mended = true;
                Json::parse(reader.string()?.into_str())?
            }
            _ => reader.raw()?,
        };
        if json.kind() != kind {
            return Err(odd("a value of the type that is stated"));
        }
        Ok(json)
    }
}

/// Reads the null of a piece: itself, or the one word of the enumeration that it is in Protocol Buffers.
fn null<'a>(reader: &mut Reader<'a>) -> Result<Data<'a>> {
    let json = reader.raw()?;
    match json.is_null() || ["\"NULL_VALUE\"", "0"].contains(&json.as_str()) {
        true => Ok(Data::Whole(Json::literal("null"))),
        false => Err(odd("a null")),
    }
}

/// Sets what must be stated once at most.
fn once<T>(known: &mut Option<T>, value: T) -> Result<()> {
    match known.replace(value) {
        Some(_) => Err(odd("a piece that states everything once")),
        None => Ok(()),
    }
}

/// How far the paths of one piece may lead together: a step of two bytes takes some dozens.
const ALL_STEPS_MAX: usize = 65_536;

fn odd(expected: &'static str) -> Error {
    Error::new(ErrorKind::Type, format!("expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Arguments;

    fn joined(pieces: &[&str]) -> Option<String> {
        let mut joining = Joining::default();
        let first = r#"{"functionCall":{"name":"f","willContinue":true}}"#.to_owned();
        let pieces = pieces.iter().map(|pieces| {
            format!(r#"{{"functionCall":{{"partialArgs":{pieces},"willContinue":true}}}}"#)
        });
        let parts: Vec<String> = [first]
            .into_iter()
            .chain(pieces)
            .chain([r#"{"functionCall":{}}"#.to_owned()])
            .collect();
        for part in &parts {
            joining.push(part_or_piece(&mut Reader::new(part), Place::default()).ok()?);
        }
        match joining.finish() {
            (parts, false) => match parts.first()?.content() {
                Content::ToolCall(call) => match &call.arguments {
                    Arguments::Json(json) => Some(json.as_str().to_owned()),
                    Arguments::Text(_) => None,
                },
                _ => None,
            },
            (_, true) => None,
        }
    }

    #[test]
    fn pieces_come_to_stand_at_their_paths() {
        let pieces = [
            r#"[{"jsonPath":"$.port","stringValue":"Po","willContinue":true}]"#,
            r#"[{"jsonPath":"$.port","stringValue":"rto"},{"jsonPath":"$.days[0].of","numberValue":6}]"#,
            r#"[{"jsonPath":"$.days[1]['a b']","boolValue":true},{"jsonPath":"$.x","nullValue":"NULL_VALUE"}]"#,
            r#"{"jsonPath":"$['it\\'s \"\\u0061\"']","numberValue":1}"#,
            "null",
        ];
        let expected = r#"{"port":"Porto","days":[{"of":6},{"a b":true}],"x":null,"it's \"a\"":1}"#;
        assert_eq!(joined(&pieces).as_deref(), Some(expected));
        assert_eq!(joined(&[]).as_deref(), Some("{}"));
    }

    #[test]
    fn a_value_that_was_to_go_on_is_no_call() {
        let begun = r#"[{"jsonPath":"$.a.b[0]","stringValue":"x","willContinue":true}]"#;
        assert_eq!(joined(&[begun]), None);
        for end in [
            r#"[{"jsonPath":"$.a.b[0]","stringValue":""}]"#,
            r#"[{"jsonPath":"$['a']['b'][0]"}]"#,
            r#"[{"jsonPath":"$.a.b[0]","willContinue":false}]"#,
        ] {
            assert_eq!(joined(&[begun, end]).as_deref(), Some(r#"{"a":{"b":["x"]}}"#), "{end}");
        }
        for other in [
            r#"[{"jsonPath":"$.a.b"}]"#,
            r#"[{"jsonPath":"$.a.b[1]"}]"#,
            r#"[{"jsonPath":"$.a.b[0]","willContinue":true}]"#,
            r#"[{"jsonPath":"$.c","numberValue":5,"willContinue":true},{"jsonPath":"$.a.b[0]"}]"#,
            r#"[{"jsonPath":"$.c","willContinue":true},{"jsonPath":"$.a.b[0]"}]"#,
        ] {
            assert_eq!(joined(&[begun, other]), None, "{other}");
        }
    }

    #[test]
    fn pieces_that_cannot_be_read_are_no_call() {
        for piece in [
            r#"{"jsonPath":"$.a","structValue":{"x":1}}"#,
            r#"{"jsonPath":"$.a","stringValue":5}"#,
            r#"{"jsonPath":"$.a","boolValue":"maybe"}"#,
            r#"{"jsonPath":"$.a","numberValue":"NaN"}"#,
            r#"{"jsonPath":"$.a","numberValue":true}"#,
            r#"{"jsonPath":"$.a","numberValue":1,"stringValue":"x"}"#,
            r#"{"jsonPath":"$.a","nullValue":5}"#,
            r#"{"jsonPath":"$.a","nullValue":"null"}"#,
            r#"{"jsonPath":"$.a","jsonPath":"$.b","stringValue":"x"}"#,
            r#"{"jsonPath":"$.a","stringValue":"x","willContinue":"no"}"#,
            r#"{"stringValue":"x"}"#,
            "5",
        ] {
            assert_eq!(joined(&[&format!("[{piece}]")]), None, "{piece}");
        }
    }

    #[test]
    fn paths_that_lead_nowhere_are_no_call() {
        for path in [
            "port",
            "$",
            "$.",
            "$[9]",
            "$.a[1]",
            "$['a",
            "$.a[x]",
            "$['a\\\\q']",
            "$.*",
            "$.a.*",
            "$.a[*]",
            "$..a",
            "$.a[00]",
            "$.a[+0]",
            "$.a[-1]",
        ] {
            let piece = format!(r#"[{{"jsonPath":"{path}","stringValue":"x"}}]"#);
            assert_eq!(joined(&[&piece]), None, "{path}");
        }
    }
}
