//! What Codex says: answers to our requests, notifications, and requests of its own. Of a turn's notifications comes a stream as its
//! model's own API would have sent it.

use std::borrow::Cow;
use std::fmt;

use sabir_wire::Result;
use sabir_wire::json::{Json, Kind, Reader, Text, Writer};

use super::tools::own;
use crate::agent::json;
use crate::agent::json::{member, text};
use crate::agent::suspend::Pending;

/// What matters of a line.
#[derive(Default)]
pub(super) struct Line<'l> {
    pub(super) id: Option<Json<'l>>,
    pub(super) method: Option<Text<'l>>,
    pub(super) params: Params<'l>,
    pub(super) result: Option<Json<'l>>,
    pub(super) error: Option<Json<'l>>,
}

/// What matters of a notification.
#[derive(Default)]
pub(super) struct Params<'l> {
    pub(super) turn_id: Option<Text<'l>>,
    item_id: Option<Text<'l>>,
    call_id: Option<Text<'l>>,
    pub(super) delta: Option<Text<'l>>,
    summary_index: Option<u64>,
    pub(super) item: Option<Json<'l>>,
    response_id: Option<Text<'l>>,
    pub(super) usage: Option<Json<'l>>,
    pub(super) turn: Option<Json<'l>>,
    pub(super) error: Option<Json<'l>>,
    pub(super) will_retry: bool,
}

impl<'l> Line<'l> {
    pub(super) fn read(line: &'l [u8]) -> Result<Self> {
        let mut read = Self::default();
        let mut reader = Reader::from_slice(line)?;
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("id", _) => read.id = Some(reader.raw()?),
                ("method", Kind::String) => read.method = Some(reader.string()?),
                ("params", Kind::Object) => read.params = Params::read(reader)?,
                ("result", Kind::Object) => read.result = Some(reader.raw()?),
                ("error", Kind::Object) => read.error = Some(reader.raw()?),
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        reader.finish()?;
        Ok(read)
    }

    pub(super) fn method(&self) -> Cow<'_, str> {
        self.method.as_ref().map(Text::to_str).unwrap_or_default()
    }

    /// The number of our request that it answers.
    pub(super) fn answers(&self) -> Option<u64> {
        let id = self.id.as_ref().filter(|_| self.method.is_none())?;
        id.as_str().parse().ok()
    }

    /// The call of the client's tool that it asks for, if it does.
    pub(super) fn call(&self) -> Option<Pending> {
        let request = self.id.as_ref().filter(|_| self.method() == "item/tool/call")?;
        let call = self.params.call_id.as_ref()?.to_str().into_owned();
        Some(Pending { call, request: request.as_str().to_owned(), message: String::new() })
    }

    /// The version in how it calls itself: it puts our name before it, and more behind it.
    pub(super) fn version(&self) -> Option<String> {
        let name = text(self.result.as_ref()?, "userAgent")?;
        let (_, version) = name.split_once('/')?;
        Some(version.split(' ').next().unwrap_or_default().to_owned())
    }

    /// The id of the object under a name in the result.
    pub(super) fn id_of(&self, name: &str) -> Option<String> {
        let object = member(self.result.as_ref()?, name)?;
        let id = member(&object, "id")?;
        id.reader().string().ok().map(|id| id.into_str().into_owned())
    }
}

impl<'l> Params<'l> {
    fn read(reader: &mut Reader<'l>) -> Result<Self> {
        let mut read = Self::default();
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("turnId", Kind::String) => read.turn_id = Some(reader.string()?),
                ("itemId", Kind::String) => read.item_id = Some(reader.string()?),
                ("callId", Kind::String) => read.call_id = Some(reader.string()?),
                ("delta", Kind::String) => read.delta = Some(reader.string()?),
                ("summaryIndex", Kind::Number) => read.summary_index = reader.number()?.as_u64(),
                ("item", Kind::Object) => read.item = Some(reader.raw()?),
                ("responseId", Kind::String) => read.response_id = Some(reader.string()?),
                ("usage", Kind::Object) => read.usage = Some(reader.raw()?),
                ("turn", Kind::Object) => read.turn = Some(reader.raw()?),
                ("error", Kind::Object) => read.error = Some(reader.raw()?),
                ("willRetry", Kind::Boolean) => read.will_retry = reader.boolean()?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(read)
    }
}

impl Params<'_> {
    /// The item, if the model made it. What it is told in this turn, such as results, is told of in the same way.
    pub(super) fn output(&self) -> Option<&Json<'_>> {
        let item = self.item.as_ref()?;
        let kind = text(item, "type").unwrap_or_default();
        let is_input = match kind.as_str() {
            "message" => text(item, "role").as_deref() != Some("assistant"),
            kind => kind.ends_with("_output"),
        };
        (!is_input).then_some(item)
    }
}

/// A turn's notifications as frames of Responses.
#[derive(Debug, Default)]
pub(super) struct Frames {
    model: String,
    has_begun: bool,
    /// The items that were begun, in the order of the output.
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    id: String,
    kind: String,
    is_done: bool,
}

impl Frames {
    pub(super) fn new(model: String) -> Self {
        Self { model, ..Self::default() }
    }

    /// The frames of a notification, and whether the model's answer ends with them.
    pub(super) fn of(&mut self, method: &str, params: &Params<'_>) -> (Vec<String>, bool) {
        let mut out = Vec::new();
        match method {
            "item/started" => self.started(params, &mut out),
            "item/agentMessage/delta" => self.text(params, &mut out),
            "item/reasoning/summaryPartAdded" => self.part(params, &mut out),
            "item/reasoning/summaryTextDelta" => self.thought(params, &mut out),
            "rawResponseItem/completed" => self.done(params, &mut out),
            "rawResponse/completed" => {
                self.begin(&mut out);
                out.push(self.completed(params));
                return (out, true);
            }
            _ => {}
        }
        (out, false)
    }

    fn begin(&mut self, out: &mut Vec<String>) {
        if !std::mem::replace(&mut self.has_begun, true) {
            out.push(frame("response.created", |it| {
                it.key("response");
                it.object(|it| self.write_head("in_progress", it));
            }));
        }
    }

    fn write_head(&self, status: &str, writer: &mut Writer) {
        writer.field("object", "response");
        writer.field("model", &self.model);
        writer.field("status", status);
    }

    fn started(&mut self, params: &Params<'_>, out: &mut Vec<String>) {
        let Some(item) = &params.item else { return };
        let (Some(id), kind) = (text(item, "id"), text(item, "type")) else { return };
        let kind = match kind.as_deref() {
            Some("agentMessage") => "message",
            Some("reasoning") => "reasoning",
            _ => return,
        };
        self.open(&id, kind, out);
    }

    /// Begins an item of the output, and says where it stands.
    fn open(&mut self, id: &str, kind: &str, out: &mut Vec<String>) -> usize {
        self.begin(out);
        let index = self.items.len();
        self.items.push(Item { id: id.to_owned(), kind: kind.to_owned(), is_done: false });
        out.push(frame("response.output_item.added", |it| {
            it.field("output_index", &(index as u64));
            it.key("item");
            it.object(|it| {
                it.field("type", kind);
                it.field("id", id);
                if kind == "message" {
                    it.field("role", "assistant");
                    it.field("status", "in_progress");
                }
                it.key(if kind == "message" { "content" } else { "summary" });
                it.array(|_| {});
            });
        }));
        if kind == "message" {
            out.push(frame("response.content_part.added", |it| {
                write_place((id, index), "content_index", 0, it);
                it.key("part");
                it.object(|it| {
                    it.field("type", "output_text");
                    it.field("text", "");
                    it.key("annotations");
                    it.array(|_| {});
                });
            }));
        }
        index
    }

    fn index(&self, params: &Params<'_>) -> Option<usize> {
        let id = params.item_id.as_ref()?.to_str();
        self.items.iter().position(|item| item.id == id)
    }

    fn text(&mut self, params: &Params<'_>, out: &mut Vec<String>) {
        let (Some(id), Some(delta)) = (&params.item_id, &params.delta) else { return };
        let id = id.to_str();
        let index = self.index(params).unwrap_or_else(|| self.open(&id, "message", out));
        out.push(frame("response.output_text.delta", |it| {
            write_place((&id, index), "content_index", 0, it);
            it.field("delta", delta);
        }));
    }

    fn part(&mut self, params: &Params<'_>, out: &mut Vec<String>) {
        let (Some(id), Some(index)) = (&params.item_id, self.index(params)) else { return };
        out.push(frame("response.reasoning_summary_part.added", |it| {
            let summary = params.summary_index.unwrap_or(0);
            write_place((&id.to_str(), index), "summary_index", summary, it);
            it.key("part");
            it.object(|it| {
                it.field("type", "summary_text");
                it.field("text", "");
            });
        }));
    }

    fn thought(&mut self, params: &Params<'_>, out: &mut Vec<String>) {
        let (Some(id), Some(index)) = (&params.item_id, self.index(params)) else { return };
        let Some(delta) = &params.delta else { return };
        out.push(frame("response.reasoning_summary_text.delta", |it| {
            let summary = params.summary_index.unwrap_or(0);
            write_place((&id.to_str(), index), "summary_index", summary, it);
            it.field("delta", delta);
        }));
    }

    /// An item of the output as the model made it.
    fn done(&mut self, params: &Params<'_>, out: &mut Vec<String>) {
        let Some(item) = params.output() else { return };
        self.begin(out);
        let kind = text(item, "type").unwrap_or_default();
        let id = text(item, "id").unwrap_or_default();
        let same = |it: &Item| !it.is_done && it.kind == kind;
        let known = self.items.iter().position(|it| same(it) && it.id == id);
        let known = known.or_else(|| self.items.iter().position(same));
        let index = known.unwrap_or(self.items.len());
        let own = own_members(item);
        if known.is_none() {
            self.items.push(Item { id, kind, is_done: false });
            out.push(item_frame("response.output_item.added", index, &own));
        }
        self.items[index].is_done = true;
        out.push(item_frame("response.output_item.done", index, &own));
    }

    fn completed(&self, params: &Params<'_>) -> String {
        frame("response.completed", |it| {
            it.key("response");
            it.object(|it| {
                it.optional("id", params.response_id.as_ref());
                self.write_head("completed", it);
                if let Some(usage) = &params.usage {
                    it.key("usage");
                    write_usage(usage, it);
                }
            });
        })
    }
}

/// The item without what the CLI added to it, and a call by the client's name of the tool.
fn own_members(item: &Json<'_>) -> String {
    let mut writer = Writer::default();
    let name =
        text(item, "name").filter(|_| text(item, "type").as_deref() == Some("function_call"));
    writer.begin_object();
    // What cannot be read was not sent by a server.
    let _ = item.reader().object(|key, reader| {
        let value = reader.raw()?;
        match (&*key, &name) {
            ("internal_chat_message_metadata_passthrough", _) => {}
            ("name", Some(name)) => writer.field("name", own(name)),
            _ if value.is_null() => {}
            _ => writer.field(&key, &value),
        }
        Ok(())
    });
    writer.end_object();
    writer.into_string()
}

fn write_usage(usage: &Json<'_>, writer: &mut Writer) {
    let count = |name: &str| member(usage, name).and_then(|it| it.as_str().parse::<u64>().ok());
    writer.object(|it| {
        it.optional("input_tokens", count("inputTokens").as_ref());
        it.key("input_tokens_details");
        it.object(|it| it.optional("cached_tokens", count("cachedInputTokens").as_ref()));
        it.optional("output_tokens", count("outputTokens").as_ref());
        it.key("output_tokens_details");
        it.object(|it| it.optional("reasoning_tokens", count("reasoningOutputTokens").as_ref()));
        it.optional("total_tokens", count("totalTokens").as_ref());
    });
}

fn write_place((id, index): (&str, usize), name: &str, part: u64, writer: &mut Writer) {
    writer.field("item_id", id);
    writer.field("output_index", &(index as u64));
    writer.field(name, &part);
}

fn item_frame(kind: &str, index: usize, item: &str) -> String {
    frame(kind, |it| {
        it.field("output_index", &(index as u64));
        it.key("item");
        json::write(item, it);
    })
}

/// Most frames are a delta with its place.
const FRAME_BYTES: usize = 256;

fn frame(kind: &str, members: impl FnOnce(&mut Writer)) -> String {
    let mut writer = Writer::with_capacity(FRAME_BYTES);
    writer.object(|it| {
        it.field("type", kind);
        members(it);
    });
    writer.into_string()
}

/// Says how much there is, never what.
impl fmt::Debug for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Line({:?})", self.method())
    }
}
