//! The calls of a choice, which come in fragments that may interleave.

use crate::conversation::CallForm;
use crate::error::{Error, ErrorKind, Result};
use crate::index::Index;
use crate::json::{Kind, Reader, Text};
use crate::limit::OPEN_PARTS_MAX;
use crate::place::{Place, Step};
use crate::protocol::object::set;
use crate::protocol::openai_chat::decode_request::message::read_signature;
use crate::protocol::openai_chat::types::{Shape, shape};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::sink::Sink;
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Key {
    Index(u64),
    /// The server numbers nothing; the id tells, or else the latest call goes on.
    #[default]
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
pub(super) struct Fragment<'f> {
    key: Key,
    id: Option<Text<'f>>,
    name: Option<Text<'f>>,
    arguments: Text<'f>,
    form: CallForm,
    semantics: NodeSemantics<'f>,
    extras: Extras<'f>,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn add<'f>(&mut self, of: Fragment<'f>, sink: &mut Sink<'_, 'f>) -> Result<()> {
        let Fragment { key, id, name, arguments, form, mut semantics, extras } = of;
        semantics.keep(extras);
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
        match (&call.state, name) {
            (CallState::Unnamed(_), Some(name)) => call.open((name, form), semantics, sink),
            (CallState::Open(part), _) if semantics.has_detail() => {
                sink.note(Some(*part), NoteKind::Semantics(semantics));
            }
            _ => {}
        }
        let was_complete = call.progress.is_complete;
        call.grow(arguments, sink);
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
    /// Reads one element of `tool_calls`.
    pub(super) fn read(reader: &mut Reader<'f>, place: Place) -> Result<Self> {
        let semantics = NodeSemantics::at(place).shaped(shape::IN_CALLS);
        let mut fragment = Self { semantics, ..Self::default() };
        reader.object(|key, reader| match (&*key, reader.kind()?) {
            (_, Kind::Null) | ("type", Kind::String) => reader.skip(),
            ("index", Kind::Number) => {
                fragment.key = reader.number()?.as_u64().map_or(Key::Unnumbered, Key::Index);
                Ok(())
            }
            ("id", Kind::String) => set(&mut fragment.id, reader.string()),
            ("function", Kind::Object) => fragment.payload(reader, "function"),
            ("custom", Kind::Object) => {
                fragment.form = CallForm::Custom;
                fragment.payload(reader, "custom")
            }
            (name, kind) => {
                let is_signed = name == "extra_content" && kind == Kind::Object;
                if is_signed && let Some(it) = read_signature(reader, &mut fragment.extras)? {
                    fragment.semantics.set_artefact(it);
                } else {
                    fragment.extras.keep("", key, reader.raw()?);
                }
                Ok(())
            }
        })?;
        Ok(fragment)
    }

    /// Reads a `function_call`.
    pub(super) fn read_legacy(reader: &mut Reader<'f>, place: Place) -> Result<Self> {
        let semantics = NodeSemantics::at(place.step(Step::FunctionCall)).shaped(shape::LEGACY);
        let mut fragment = Self { key: Key::Legacy, semantics, ..Self::default() };
        fragment.payload(reader, "")?;
        Ok(fragment)
    }

    fn payload(&mut self, reader: &mut Reader<'f>, scope: &'static str) -> Result<()> {
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                (_, Kind::Null) => reader.skip()?,
                ("name", Kind::String) => {
                    self.name = Some(reader.string()?).filter(|name| !name.is_empty());
                }
                ("arguments" | "input", Kind::String) => self.arguments = reader.string()?,
                // Some servers give the arguments as the object that they are.
                // Fixture `answer/tools/arguments-that-are-an-object`.
                ("arguments", _) => {
                    self.arguments = reader.raw()?.to_text().into_owned();
                    self.semantics.add_shape(Shape::AS_JSON);
                }
                _ => self.extras.keep(scope, key, reader.raw()?),
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
