//! The calls of a choice, which come in fragments that may interleave.

use std::borrow::Cow;

use crate::conversation::CallForm;
use crate::error::{Error, ErrorKind, Result};
use crate::index::Index;
use crate::json::{Kind, Reader, Text};
use crate::limit::OPEN_PARTS_MAX;
use crate::place::{Place, Step};
use crate::protocol::openai_chat::decode_request::message::read_signature;
use crate::protocol::openai_chat::decode_stream::sink::Sink;
use crate::protocol::openai_chat::types::{Shape, shape};
use crate::protocol::semantics::{Artefact, Extras, NodeSemantics};
use crate::protocol::{NoteKind, Opening, PartId};

#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    /// Which of them has which key.
    keys: Index<Key>,
    /// Those whose arguments are complete, and which are not closed yet.
    complete: Vec<usize>,
}

#[derive(Debug)]
struct Call {
    key: Key,
    id: Option<Text<'static>>,
    state: CallState,
    progress: Progress,
    /// Where it began.
    place: Place,
}

/// What tells the fragments of one call from those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Index(u64),
    /// The server numbers nothing; the id tells, or else the latest call goes on.
    Unnumbered,
    /// The one call of `function_call`.
    Legacy,
}

#[derive(Debug)]
enum CallState {
    /// Not yet named, with the arguments that came so far.
    Unnamed(Text<'static>),
    Open(PartId),
    Closed,
}

/// One fragment of a call.
#[derive(Default)]
struct Fragment<'f> {
    index: Option<u64>,
    id: Option<Text<'f>>,
    name: Option<Text<'f>>,
    arguments: Option<Text<'f>>,
    form: CallForm,
    signature: Option<Artefact<'f>>,
    extras: Extras<'f>,
    shape: Shape,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Reads one element of `tool_calls`.
    pub(super) fn step<'f>(
        &mut self,
        reader: &mut Reader<'f>,
        place: Place,
        sink: &mut Sink<'_, 'f>,
    ) -> Result<()> {
        let fragment = Fragment::read(reader)?;
        let key = fragment.index.map_or(Key::Unnumbered, Key::Index);
        let semantics = NodeSemantics::at(place).shaped(shape::IN_CALLS);
        self.add(key, fragment, semantics, sink)
    }

    /// Reads a `function_call`.
    pub(super) fn step_legacy<'f>(
        &mut self,
        reader: &mut Reader<'f>,
        place: Place,
        sink: &mut Sink<'_, 'f>,
    ) -> Result<()> {
        let mut fragment = Fragment::default();
        fragment.payload(reader, "")?;
        let semantics = NodeSemantics::at(place.step(Step::FunctionCall)).shaped(shape::LEGACY);
        self.add(Key::Legacy, fragment, semantics, sink)
    }

    fn add<'f>(
        &mut self,
        key: Key,
        fragment: Fragment<'f>,
        mut semantics: NodeSemantics<'f>,
        sink: &mut Sink<'_, 'f>,
    ) -> Result<()> {
        let Fragment { index: _, id, name, arguments, form, signature, extras, shape } = fragment;
        semantics.add_shape(shape);
        let is_noted = signature.is_some() || !extras.is_empty();
        if let Some(signature) = signature {
            semantics.set_artefact(signature);
        }
        let position = match self.find(key, id.as_ref(), name.is_some()) {
            Some(position) => position,
            None => {
                self.close_complete(sink);
                self.begin(key, semantics.place())?
            }
        };
        let call = &mut self.calls[position];
        if let (None, Some(id)) = (&call.id, id.filter(|id| !id.is_empty())) {
            call.id = Some(id.into_owned());
        }
        semantics.keep(extras);
        match (&call.state, name) {
            (CallState::Unnamed(_), Some(name)) => call.open((name, form), semantics, sink),
            (CallState::Open(part), _) if is_noted => {
                sink.note(Some(*part), NoteKind::Semantics(semantics));
            }
            _ => {}
        }
        let was_complete = call.progress.is_complete;
        call.grow(arguments.unwrap_or_default(), sink);
        if !was_complete && call.progress.is_complete {
            self.complete.push(position);
        }
        Ok(())
    }

    /// The call that a fragment goes on with. Some servers number all calls alike, but a new id with a name is a new
    /// call. Fixture `stream/tools/calls-of-one-number`.
    fn find(&mut self, key: Key, id: Option<&Text<'_>>, named: bool) -> Option<usize> {
        let position = self.keys.last(&self.calls, &key, |call| &call.key)?;
        let call = &self.calls[position];
        let other = match (id, &call.id) {
            (Some(id), Some(known)) => !id.is_empty() && id != known,
            (Some(_) | None, _) => false,
        };
        let begun = !matches!(call.state, CallState::Unnamed(_));
        let anew = named && begun && (other || key == Key::Unnumbered && id.is_none());
        (!anew).then_some(position)
    }

    fn begin(&mut self, key: Key, place: Place) -> Result<usize> {
        if self.calls.len() >= OPEN_PARTS_MAX {
            return Err(Error::new(ErrorKind::Limit, "expected fewer calls in one answer"));
        }
        self.calls.push(Call {
            key,
            id: None,
            state: CallState::Unnamed(Text::default()),
            progress: Progress::default(),
            place,
        });
        Ok(self.calls.len() - 1)
    }

    /// Closes the calls whose arguments are complete, so that what follows need not wait for the end of the answer.
    pub(super) fn close_complete(&mut self, sink: &mut Sink<'_, '_>) {
        self.complete.sort_unstable();
        // One that has no name yet is closed when it has, or at the end.
        self.complete.retain(|at| {
            matches!(self.calls[*at].state, CallState::Unnamed(_)) || {
                self.calls[*at].close(sink);
                false
            }
        });
    }

    /// Closes all calls; one that was never named is emitted without a name rather than lost.
    pub(super) fn close_all(&mut self, sink: &mut Sink<'_, '_>) {
        for call in &mut self.calls {
            if matches!(call.state, CallState::Unnamed(_)) {
                let semantics = NodeSemantics::at(call.place);
                call.open((Text::default(), CallForm::Function), semantics, sink);
            }
            call.close(sink);
        }
    }
}

impl Call {
    /// Opens the part of a call, with the arguments that came before its name.
    fn open<'f>(
        &mut self,
        (name, form): (Text<'f>, CallForm),
        semantics: NodeSemantics<'f>,
        sink: &mut Sink<'_, 'f>,
    ) {
        let id = self.id.clone();
        let part = sink.open(Opening::ToolCall { id, name, form }, semantics);
        if let CallState::Unnamed(early) = std::mem::replace(&mut self.state, CallState::Open(part))
        {
            sink.grow(part, early);
        }
    }

    fn grow<'f>(&mut self, more: Text<'f>, sink: &mut Sink<'_, 'f>) {
        if more.is_empty() {
            return;
        }
        self.progress.add(&more.to_str());
        match &mut self.state {
            CallState::Unnamed(early) => early.push(&more),
            CallState::Open(part) => sink.grow(*part, more),
            // The arguments were complete; what servers send after that is padding.
            CallState::Closed => {}
        }
    }

    fn close(&mut self, sink: &mut Sink<'_, '_>) {
        if let CallState::Open(part) = self.state {
            sink.close(part);
            self.state = CallState::Closed;
        }
    }
}

impl<'f> Fragment<'f> {
    fn read(reader: &mut Reader<'f>) -> Result<Self> {
        let mut fragment = Self::default();
        reader.object(|key, reader| {
            let kind = reader.kind()?;
            match (&*key, kind) {
                (_, Kind::Null) => reader.skip()?,
                ("index", Kind::Number) => fragment.index = reader.number()?.as_u64(),
                ("id", Kind::String) => fragment.id = Some(reader.string()?),
                ("type", Kind::String) => reader.skip()?,
                ("function", Kind::Object) => fragment.payload(reader, "function")?,
                ("extra_content", Kind::Object) => fragment.extra_content(key, reader)?,
                ("custom", Kind::Object) => {
                    fragment.form = CallForm::Custom;
                    fragment.payload(reader, "custom")?;
                }
                _ => {
                    let json = reader.raw()?;
                    fragment.extras.keep("", key, json);
                }
            }
            Ok(())
        })?;
        Ok(fragment)
    }

    fn extra_content(&mut self, key: Cow<'f, str>, reader: &mut Reader<'f>) -> Result<()> {
        self.signature = read_signature(reader, &mut self.extras)?;
        if self.signature.is_none() {
            self.extras.keep("", key, reader.raw()?);
        }
        Ok(())
    }

    fn payload(&mut self, reader: &mut Reader<'f>, scope: &'static str) -> Result<()> {
        reader.object(|key, reader| {
            let kind = reader.kind()?;
            match (&*key, kind) {
                (_, Kind::Null) => reader.skip()?,
                ("name", Kind::String) => {
                    self.name = Some(reader.string()?).filter(|name| !name.is_empty());
                }
                ("arguments" | "input", Kind::String) => self.arguments = Some(reader.string()?),
                // Some servers give the arguments as the object that they are.
                // Fixture `answer/tools/arguments-that-are-an-object`.
                ("arguments", _) => {
                    let json = reader.raw()?;
                    self.arguments = Some(json.to_text().into_owned());
                    self.shape = Shape::AS_JSON;
                }
                _ => {
                    let json = reader.raw()?;
                    self.extras.keep(scope, key, json);
                }
            }
            Ok(())
        })
    }
}

/// How far the JSON text of arguments has come.
#[derive(Debug, Default)]
struct Progress {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    is_complete: bool,
}

impl Progress {
    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.is_complete => return,
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_in_string => self.is_escaped = true,
                b'"' if self.depth > 0 => self.is_in_string = !self.is_in_string,
                _ if self.is_in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    self.is_complete = self.depth == 0;
                }
                _ => {}
            }
        }
    }
}
