//! Histories that were kept, as messages of a request that may be of another protocol.

use std::collections::HashMap;

use super::kept::Kept;
use super::mixed::origin;
use crate::conversation::{Content, Message, Part, ResultOutput, Tool, ToolKind};
use crate::error::Result;
use crate::json::Text;
use crate::place::Place;
use crate::protocol::{DecodedRequest, Protocol};

impl<'a> DecodedRequest<'a> {
    /// Puts recalled messages behind the leading instructions, before whatever else the request says.
    pub fn recall(&mut self, history: Vec<Message<'a>>) {
        let home = self.protocol();
        let leading = self.leading_messages();
        let messages = &mut self.edit().messages;
        messages.splice(leading..leading, history);
        if home.facts().names_results {
            name_results(home, messages);
        }
    }
}

/// Names the tools of results that say only which call they answer. Where results name their tools, a request that came so
/// is written without looking for the calls. What came in another protocol is written with them, and its results are not to
/// be paired by a name that they did not have. Fixture `request/results/chat-result-told-twice-beside-a-call-without-id`.
fn name_results(home: Protocol, messages: &mut [Message<'_>]) {
    let mut names: HashMap<String, Text<'static>> = HashMap::new();
    let parts = messages.iter_mut().flat_map(|message| {
        let is_own = origin(home, &message.semantics).is_none();
        message.parts.iter_mut().map(move |part| (part, is_own))
    });
    for (part, is_own) in parts {
        match part.content_mut() {
            Content::ToolCall(call) => {
                let id = call.id.as_ref().map(|id| id.to_str().into_owned());
                names.extend(id.map(|id| (id, call.name.clone().into_owned())));
            }
            Content::ToolResult(result) if result.name.is_none() && is_own => {
                let id = result.call_id.as_ref();
                result.name = id.and_then(|id| names.get(&*id.to_str()).cloned());
            }
            Content::ToolResult(_)
            | Content::Text(_)
            | Content::Refusal(_)
            | Content::Media(_)
            | Content::Opaque(_)
            | Content::Reasoning(_) => {}
        }
    }
}

impl Protocol {
    /// The same as [`Kept::messages`] of these elements, separated by commas, for whoever does not keep them.
    pub fn restore_messages(
        self,
        elements: &str,
        turn: u32,
        reader: Protocol,
    ) -> Result<Vec<Message<'static>>> {
        let kept = Kept::new(self, elements);
        let restored = kept.messages(turn, reader)?;
        Ok(restored.into_iter().map(Message::into_owned).collect())
    }

    /// The instructions and the tools that were kept of a request of this protocol, in the form that
    /// [`Entries`](crate::protocol::Entries) has them in, for a request of `reader`'s protocol that has none of its own.
    pub fn restore_settings(
        self,
        system: Option<&str>,
        tools: Option<&str>,
        reader: Protocol,
    ) -> Result<(Vec<Message<'static>>, Vec<Tool<'static>>)> {
        let body = self.body_of_settings(system, tools);
        let mut request = self.decode_request_text(&body)?.into_request().into_owned();
        if reader != self {
            let place = |place: Place| place.kept(self);
            for message in &mut request.messages {
                move_message(message, &place);
                adopt(message);
            }
            request.tools.iter_mut().for_each(|tool| adopt_tool(tool, &place));
        }
        Ok((request.messages, request.tools))
    }

    /// A request that says nothing but these settings. Not all decoders take one without messages; a list that is stated
    /// again replaces the empty one.
    fn body_of_settings(self, system: Option<&str>, tools: Option<&str>) -> String {
        let empty = format!("\"{}\":[]", self.facts().messages());
        let members = [Some(&*empty), system, tools].into_iter().flatten();
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}

/// Moves a message to another place, with all that rides on it.
pub(super) fn move_message(message: &mut Message<'_>, place: &dyn Fn(Place) -> Place) {
    message.semantics.move_all(place);
    message.parts.iter_mut().for_each(|part| move_part(part, place));
}

fn move_part(part: &mut Part<'_>, place: &dyn Fn(Place) -> Place) {
    part.semantics_mut().move_all(place);
    inner_parts(part).iter_mut().for_each(|part| move_part(part, place));
}

/// Leaves on a message what names its own protocol.
pub(super) fn adopt(message: &mut Message<'_>) {
    message.semantics.forget_spelling();
    message.semantics.keep_what_names_its_protocol();
    message.parts.iter_mut().for_each(adopt_part);
}

fn adopt_part(part: &mut Part<'_>) {
    // What is opaque is written where it stood, and thinking as it came, which their spelling tells.
    if !matches!(part.content(), Content::Opaque(_) | Content::Reasoning(_)) {
        part.semantics_mut().forget_spelling();
    }
    part.semantics_mut().keep_what_names_its_protocol();
    inner_parts(part).iter_mut().for_each(adopt_part);
}

fn inner_parts<'p, 'a>(part: &'p mut Part<'a>) -> &'p mut [Part<'a>] {
    match part.content_mut() {
        Content::ToolResult(result) => {
            let (ResultOutput::Parts(parts) | ResultOutput::Object { parts, .. }) =
                &mut result.output;
            parts
        }
        _ => &mut [],
    }
}

/// A tool keeps how it was spelled, since that tells the language of its schemas.
fn adopt_tool(tool: &mut Tool<'_>, place: &dyn Fn(Place) -> Place) {
    tool.semantics = tool.semantics.spelled_alike(place(tool.semantics.place()));
    if let ToolKind::Namespace(namespace) = &mut tool.kind {
        namespace.tools.iter_mut().for_each(|tool| adopt_tool(tool, place));
    }
}
