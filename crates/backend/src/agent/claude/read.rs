//! What Claude Code prints, an object a line. The order of its members varies, and lines of unknown types are passed over.

use std::fmt;

use sabir_wire::Result;
use sabir_wire::json::{Json, Kind, Reader, Text};

use crate::agent::json::member;

/// What matters of a line.
#[derive(Default)]
pub(super) struct Line<'l> {
    pub(super) kind: Option<Text<'l>>,
    subtype: Option<Text<'l>>,
    /// An event of the model's own stream.
    pub(super) event: Option<Json<'l>>,
    pub(super) request_id: Option<Text<'l>>,
    pub(super) request: Option<Json<'l>>,
    pub(super) response: Option<Json<'l>>,
    pub(super) message: Option<Json<'l>>,
    pub(super) error: Option<Text<'l>>,
    pub(super) api_error: Option<Text<'l>>,
    pub(super) api_error_type: Option<Text<'l>>,
    pub(super) api_error_status: Option<u64>,
    pub(super) terminal_reason: Option<Text<'l>>,
    pub(super) result: Option<Text<'l>>,
    pub(super) is_error: bool,
    pub(super) model: Option<Text<'l>>,
    pub(super) rate_limit: Option<Json<'l>>,
    pub(super) session_id: Option<Text<'l>>,
    /// That of the CLI.
    pub(super) version: Option<Text<'l>>,
    pub(super) usage: Option<Json<'l>>,
    pub(super) stop_reason: Option<Text<'l>>,
    /// Whether it is about a sub-agent.
    is_below: bool,
}

impl<'l> Line<'l> {
    pub(super) fn read(line: &'l [u8]) -> Result<Self> {
        let mut read = Self::default();
        let mut reader = Reader::from_slice(line)?;
        reader.object(|key, reader| read.member(&key, reader))?;
        reader.finish()?;
        Ok(read)
    }

    /// A member of another kind than expected means nothing.
    fn member(&mut self, key: &str, reader: &mut Reader<'l>) -> Result<()> {
        match (key, reader.kind()?) {
            ("type", Kind::String) => self.kind = Some(reader.string()?),
            ("subtype", Kind::String) => self.subtype = Some(reader.string()?),
            ("event", Kind::Object) => self.event = Some(reader.raw()?),
            ("request_id", Kind::String) => self.request_id = Some(reader.string()?),
            ("request", Kind::Object) => self.request = Some(reader.raw()?),
            ("response", Kind::Object) => self.response = Some(reader.raw()?),
            ("message", Kind::Object) => self.message = Some(reader.raw()?),
            ("error", Kind::String) => self.error = Some(reader.string()?),
            ("api_error", Kind::String) => self.api_error = Some(reader.string()?),
            ("api_error_type", Kind::String) => self.api_error_type = Some(reader.string()?),
            ("api_error_status", Kind::Number) => self.api_error_status = reader.number()?.as_u64(),
            ("terminal_reason", Kind::String) => self.terminal_reason = Some(reader.string()?),
            ("result", Kind::String) => self.result = Some(reader.string()?),
            ("is_error", Kind::Boolean) => self.is_error = reader.boolean()?,
            ("model", Kind::String) => self.model = Some(reader.string()?),
            ("claude_code_version", Kind::String) => self.version = Some(reader.string()?),
            ("session_id", Kind::String) => self.session_id = Some(reader.string()?),
            ("usage", Kind::Object) => self.usage = Some(reader.raw()?),
            ("stop_reason", Kind::String) => self.stop_reason = Some(reader.string()?),
            ("rate_limit_info", Kind::Object) => self.rate_limit = Some(reader.raw()?),
            ("parent_tool_use_id", Kind::String) => {
                self.is_below = true;
                reader.skip()?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind.as_ref().is_some_and(|it| *it == *kind)
    }

    /// Whether it tells of the session's beginning.
    pub(super) fn begins_session(&self) -> bool {
        self.is("system") && self.subtype.as_ref().is_some_and(|it| *it == *"init")
    }

    /// The model of the session, in the line that tells of its beginning.
    pub(super) fn session_model(&self) -> Option<String> {
        super::seed::text_of(&self.model).filter(|_| self.begins_session())
    }

    /// An event of the answer.
    pub(super) fn own_event(&self) -> Option<&Json<'l>> {
        self.event.as_ref().filter(|_| self.is("stream_event") && !self.is_below)
    }

    /// What the model said of its answer, in a line that tells a part of it whole.
    pub(super) fn own_content(&self) -> Option<Json<'_>> {
        let message = self.message.as_ref().filter(|_| self.is("assistant") && !self.is_below)?;
        member(message, "content")
    }

    /// What the CLI asks the server of tools.
    pub(super) fn for_server(&self) -> Option<(String, Json<'_>)> {
        let (id, request) = (self.request_id.as_ref()?, self.request.as_ref()?);
        let mut message = None;
        let read = request.reader().object(|key, reader| match &*key {
            "message" => {
                message = Some(reader.raw()?);
                Ok(())
            }
            _ => reader.skip(),
        });
        read.ok()?;
        Some((id.to_str().into_owned(), message?))
    }

    /// Whether it answers the request of that id, and well.
    pub(super) fn answers(&self, id: &str) -> Option<bool> {
        let response = self.response.as_ref().filter(|_| self.is("control_response"))?;
        let (mut is_meant, mut is_good) = (false, false);
        let read = response.reader().object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("request_id", Kind::String) => is_meant = reader.string()?.to_str() == id,
                ("subtype", Kind::String) => is_good = reader.string()?.to_str() == "success",
                _ => reader.skip()?,
            }
            Ok(())
        });
        read.ok()?;
        is_meant.then_some(is_good)
    }
}

/// Says how much there is, never what.
impl fmt::Debug for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Line({:?})", self.kind.as_ref().map(Text::to_str))
    }
}
