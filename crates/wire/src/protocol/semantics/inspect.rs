//! Shows semantics to people. It stands here because only this module sees every field.

use crate::conversation::{Content, Part, ResultOutput, ToolResult};
use crate::inspect::{Show, show, show_names};
use crate::json::{Json, Writer};
use crate::protocol::semantics::node::Detail;
use crate::protocol::semantics::{
    Artefact, ArtefactKind, CacheMarker, Citation, Declared, Extra, Extras, Item, Logprobs,
    NodeSemantics, Semantics, Session, Spelling,
};

impl NodeSemantics<'_> {
    /// Writes the members `place` and, where there is more to say, `semantics` into the node's own object.
    pub(crate) fn show_members(&self, writer: &mut Writer) {
        let NodeSemantics { place, spelling, detail } = self;
        writer.field("place", &place.to_string());
        if *spelling == Spelling::default() && detail.is_none() {
            return;
        }
        writer.object_field("semantics", |writer| {
            show_spelling(*spelling, writer);
            if let Some(detail) = detail {
                show_detail(detail, writer);
            }
        });
    }

    /// Writes where the node stands and what only its issuer can read of it, if there is such a thing.
    pub(crate) fn show_artefact(&self, writer: &mut Writer) {
        let Some(Artefact { issuer, kind, data: _, is_handed: _ }) = self.artefact() else {
            return;
        };
        writer.object(|writer| {
            writer.field("place", &self.place.to_string());
            issuer.member(writer, "issuer");
            kind.member(writer, "kind");
        });
    }

    /// Writes where the node stands and how long it may be cached, if it is marked.
    pub(crate) fn show_cache_marker(&self, writer: &mut Writer) {
        let Some(CacheMarker { key: _, ttl, json: _ }) = self.cache() else { return };
        writer.object(|writer| {
            writer.field("place", &self.place.to_string());
            writer.optional("ttl", ttl.as_ref());
        });
    }
}

/// The numbers of the bits, which the protocol's own module gives their meaning.
fn show_spelling(spelling: Spelling, writer: &mut Writer) {
    let bits: Vec<u32> = spelling.bits().collect();
    if !bits.is_empty() {
        writer.field("shape", &bits);
    }
}

fn show_detail(detail: &Detail<'_>, writer: &mut Writer) {
    let Detail { extras, cache, artefact, citations, logprobs, item, later: _ } = detail;
    cache.member(writer, "cache");
    artefact.member(writer, "artefact");
    if !citations.is_empty() {
        citations.member(writer, "citations");
    }
    writer.optional("logprobs", logprobs.as_ref().map(Logprobs::entries).as_ref());
    item.member(writer, "item");
    extras.member(writer, "extras");
}

fn show_session(session: &Session<'_>, resumed: &[&ToolResult<'_>], writer: &mut Writer) {
    session.members(writer);
    if session.previous_response_id.is_none() || resumed.is_empty() {
        return;
    }
    writer.array_field("resumeToolOutputs", |writer| {
        resumed.iter().for_each(|result| show_resumed(result, writer))
    });
}

/// The call that is answered, and with what: plain text as it is, everything else part by part.
fn show_resumed(result: &ToolResult<'_>, writer: &mut Writer) {
    writer.object(|writer| {
        result.call_id.member(writer, "callId");
        match (&result.output, result.output.parts().first().map(Part::content)) {
            (ResultOutput::Object { response, .. }, _) => writer.field("output", response),
            (ResultOutput::Parts(parts), Some(Content::Text(text))) if parts.len() == 1 => {
                writer.field("output", text);
            }
            (ResultOutput::Parts(parts), _) => parts.member(writer, "output"),
        }
    });
}

show! {
    CacheMarker { ttl, json; key }
    Artefact { issuer, kind, data; is_handed }
    Citation { protocol, url, title, cited_text, span, json; place }
    Session { previous_response_id, conversation }
    Item { id, status, phase, extras }
}

show_names!(ArtefactKind);

impl Show for NodeSemantics<'_> {
    fn member(&self, writer: &mut Writer, _key: &str) {
        self.show_members(writer);
    }
}

impl Show for (u64, u64) {
    fn show(&self, writer: &mut Writer) {
        writer.value(&[self.0, self.1].as_slice());
    }
}

impl Show for Extras<'_> {
    fn show(&self, writer: &mut Writer) {
        writer.array(|writer| self.iter().for_each(|extra| extra.show(writer)));
    }

    fn member(&self, writer: &mut Writer, key: &str) {
        if !self.is_empty() {
            writer.key(key);
            self.show(writer);
        }
    }
}

impl Show for Extra<'_> {
    fn members(&self, writer: &mut Writer) {
        let Extra { scope: _, key: _, json, later: _ } = self;
        writer.field("pointer", &self.pointer());
        writer.field("json", json);
    }
}

impl Semantics<'_> {
    /// Writes what was meant by the request as a whole into the object of its semantics. `resumed` are results of calls that
    /// the earlier answer made which the request goes on from.
    pub(crate) fn show_members(&self, resumed: &[&ToolResult<'_>], writer: &mut Writer) {
        let Semantics {
            session,
            tools_stated_empty,
            chat,
            responses,
            anthropic,
            gemini,
            extras,
            spelling,
        } = self;
        writer.object_field("session", |writer| show_session(session, resumed, writer));
        writer.object_field("tools", |writer| writer.field("statedEmpty", tools_stated_empty));
        show_namespace(writer, "chat", chat.iter().flat_map(|it| it.set()));
        show_namespace(writer, "responses", responses.iter().flat_map(|it| it.set()));
        show_namespace(writer, "anthropic", anthropic.iter().flat_map(|it| it.set()));
        show_namespace(writer, "gemini", gemini.iter().flat_map(|it| it.set()));
        writer.key("extras");
        extras.show(writer);
        show_spelling(*spelling, writer);
    }
}

fn show_namespace<'n, 'a: 'n>(
    writer: &mut Writer,
    name: &str,
    fields: impl Iterator<Item = (&'static Declared, &'n Json<'a>)>,
) {
    let mut fields = fields.peekable();
    if fields.peek().is_none() {
        return;
    }
    writer.object_field(name, |writer| {
        fields.for_each(|(declared, json)| writer.field(declared.path, json))
    });
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::{Value, json};

    use super::*;
    use crate::json::Text;
    use crate::place::{Place, Step};
    use crate::protocol::Protocol;
    use crate::protocol::semantics::{Shape, Speller};

    #[derive(Clone, Copy)]
    struct Tested;

    impl Speller for Tested {
        const PROTOCOL: Protocol = Protocol::Gemini;
    }

    fn shown(members: impl FnOnce(&mut Writer)) -> Value {
        let mut writer = Writer::default();
        writer.object(members);
        serde_json::from_str(writer.as_str()).unwrap()
    }

    fn node() -> NodeSemantics<'static> {
        NodeSemantics::at(Place::default().element(Step::Messages, 2))
    }

    #[test]
    fn a_plain_node_shows_its_place_alone() {
        assert_eq!(shown(|writer| node().show_members(writer)), json!({"place": "/messages/2"}));
    }

    #[test]
    fn everything_that_rides_on_a_node_is_shown_whole() {
        let mut node = node().shaped(Shape::<Tested>::bit(0).with(Shape::bit(4)));
        let signature = Text::literal("c2lnbmVk");
        node.set_artefact(Artefact::new(Protocol::Gemini, ArtefactKind::Signature, signature));
        let json = Json::literal(r#"{"type":"ephemeral"}"#);
        node.set_cache(CacheMarker { key: CacheMarker::ANTHROPIC, ttl: None, json });
        node.extras_mut().keep("function", Cow::Borrowed("a/b"), Json::literal("1.50"));
        node.set_item(Item { id: Some(Text::literal("rs_1")), ..Item::default() });
        let mut citation = Citation::new(Protocol::Gemini, Json::literal("{}"));
        citation.span = Some((1, 4));
        node.add_citation(citation);
        let expected = json!({"place": "/messages/2", "semantics": {
            "shape": [0, 4],
            "cache": {"json": {"type": "ephemeral"}},
            "artefact": {"issuer": "gemini", "kind": "signature", "data": "c2lnbmVk"},
            "citations": [{"protocol": "gemini", "span": [1, 4], "json": {}}],
            "item": {"id": "rs_1"},
            "extras": [{"pointer": "/function/a~1b", "json": 1.50}],
        }});
        let members = shown(|writer| node.show_members(writer));
        assert_eq!(members.to_string().replace("1.50", "1.5"), expected.to_string());
    }

    #[test]
    fn artefacts_and_cache_marks_are_indexed_by_place() {
        let mut marked = node();
        let (ttl, json) = (Some(Text::literal("1h")), Json::literal("{}"));
        marked.set_cache(CacheMarker { key: CacheMarker::ANTHROPIC, ttl, json });
        let index = |writer: &mut Writer| {
            writer.array_field("cache", |writer| {
                [node(), marked].iter().for_each(|node| node.show_cache_marker(writer));
            });
        };
        assert_eq!(shown(index), json!({"cache": [{"place": "/messages/2", "ttl": "1h"}]}));
    }

    #[test]
    fn a_request_shows_session_and_extras() {
        let mut semantics = Semantics::default();
        semantics.session_mut().previous_response_id = Some(Text::literal("resp_1"));
        semantics.state_tools_empty();
        semantics.extras_mut().keep("", Cow::Borrowed("new"), Json::literal("null"));
        let expected = json!({
            "session": {"previousResponseId": "resp_1"},
            "tools": {"statedEmpty": true},
            "extras": [{"pointer": "/new", "json": null}],
        });
        assert_eq!(shown(|writer| semantics.show_members(&[], writer)), expected);
    }
}
