//! Writing requests.

mod config;
mod contents;
mod labels;
mod part;
mod pieces;
mod result;
mod thinking;
mod tool;

pub(super) use part::PIECE_BREAK;
pub(super) use part::Pen;
pub(super) use part::write_part;

use crate::error::Result;
use crate::json::Json;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::loss::Report;
use crate::place::Place;
use crate::protocol::Exchange;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::calls::Calls;
use crate::protocol::gemini::types::CONTENTS_ABSENT;
use crate::protocol::gemini::types::GEMINI;
use crate::protocol::gemini::types::MODEL_PLAIN;
use crate::protocol::gemini::types::MODEL_PREFIX;
use crate::protocol::gemini::types::MODEL_PREFIXED;
use crate::protocol::gemini::types::REQUEST_NAMES;
use crate::protocol::gemini::types::Shape;
use crate::protocol::gemini::types::TOOLS_ONE;
use crate::protocol::gemini::types::spelled;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::semantics::Extras;
use crate::target::ModelPlace;
use crate::target::Target;

pub(in crate::protocol) fn encode_request(
    exchange: &Exchange<'_>,
    target: &Target,
    report: &mut Report,
) -> Result<String> {
    if exchange.protocol() == GEMINI {
        withhold(exchange, report);
    }
    let spelling = exchange.semantics().spelling();
    let mut losing = Losing::new(exchange.protocol(), GEMINI, report).spelled(spelling);
    losing.request(exchange);
    let request = &exchange.request;
    let calls = (!losing.is_same())
        .then(|| Calls::of(request, Protocol::Gemini, target).naming_results(request));
    let mut writer = Writer::with_capacity(exchange.body_bytes_expected());
    Scribe::new(exchange, target, losing, calls.as_ref()).request(&mut writer);
    Ok(writer.into_string())
}

/// Reports artefacts of other issuers, which not even a request of this protocol may show to its vendor.
fn withhold(exchange: &Exchange<'_>, report: &mut Report) {
    for part in exchange.request.messages.iter().flat_map(|message| &message.parts) {
        if part.semantics().artefact().is_some_and(|artefact| artefact.issuer() != GEMINI) {
            let pointer = part.semantics().place().pointer("/thoughtSignature");
            report.lose(pointer, LossKind::Withheld, "another vendor's signature");
        }
    }
}

/// A request that is being written.
struct Scribe<'x, 'r> {
    exchange: &'x Exchange<'x>,
    target: &'x Target,
    losing: Losing<'r>,
    /// How the names are spelled: as they were on the same protocol, else as the vendor writes them.
    shape: Shape,
    /// Names and ids as the vendor takes them; on the same protocol they stay as they are.
    calls: Option<&'x Calls<'x>>,
    /// Whether hosted tools are offered beside functions.
    mixes_tools: bool,
}

impl<'x, 'r> Scribe<'x, 'r> {
    fn new(
        exchange: &'x Exchange<'x>,
        target: &'x Target,
        losing: Losing<'r>,
        calls: Option<&'x Calls<'x>>,
    ) -> Self {
        let same = losing.is_same();
        let shape = if same { exchange.semantics().shape() } else { Shape::default() };
        Self { exchange, target, losing, shape, calls, mixes_tools: false }
    }

    fn is_same(&self) -> bool {
        self.losing.is_same()
    }

    fn extras(&self, scope: &'static str) -> Option<(&'x Extras<'x>, &'static str)> {
        self.is_same().then(|| (self.exchange.semantics().extras(), scope))
    }

    fn name(&self, camel: &'static str) -> &'static str {
        spelled(REQUEST_NAMES, camel, self.shape)
    }

    /// The name under which the vendor knows a tool.
    fn tool_name<'t>(&self, name: &'t Text<'_>) -> Text<'t>
    where
        'x: 't,
    {
        self.calls.map_or_else(|| name.reborrow(), |calls| calls.name(name))
    }

    fn request(mut self, writer: &mut Writer) {
        let mut object = Object::open(writer, self.extras(""));
        self.model(&mut object);
        let (system, turns) = self.turns();
        if !(self.shape.has(CONTENTS_ABSENT) && turns.is_empty()) {
            self.contents(object.key("contents"), &turns);
        }
        if let Some(system) = &system {
            self.content(object.key(self.name("systemInstruction")), system);
        }
        if self.shape.has(TOOLS_ONE) && !self.exchange.request.tools.is_empty() {
            self.tools(object.key("tools"));
        } else if !self.exchange.request.tools.is_empty() {
            object.list_unless_empty("tools", |writer| self.tools(writer));
        } else if self.is_same() && self.exchange.semantics().tools_stated_empty() {
            object.key("tools").array(|_| {});
        }
        self.tool_config(&mut object);
        self.generation_config(&mut object);
        self.rest(&mut object);
        object.close();
    }

    fn model(&mut self, object: &mut Object<'_, '_>) {
        let root = Place::default();
        let in_body = self.target.gemini_model == ModelPlace::Body;
        let request = &self.exchange.request;
        let Some(model) = &request.model else {
            if in_body {
                let reason = "the request names no model";
                self.losing.field(root, Field::Model, LossKind::Synthesised, reason);
            }
            return;
        };
        if self.shape.has(MODEL_PLAIN) {
            object.field("model", model);
        } else if in_body || self.shape.has(MODEL_PREFIXED) {
            object.field("model", &prefixed(model));
        }
    }

    /// Writes the fields that stand beside the conversation.
    fn rest(&mut self, object: &mut Object<'_, '_>) {
        self.labels(object);
        self.service_tier(object);
        self.store();
        for (path, json) in self.declared() {
            if !path.contains('/') {
                object.field(path, json);
            }
        }
    }

    /// The fields that only this protocol has, for its own requests.
    fn declared(&self) -> impl Iterator<Item = (&'static str, &'x Json<'x>)> + use<'x> {
        let semantics = if self.is_same() { self.exchange.semantics().gemini() } else { None };
        semantics.into_iter().flat_map(|gemini| gemini.set()).map(|(it, json)| (it.path, json))
    }

    fn service_tier(&mut self, object: &mut Object<'_, '_>) {
        let Some(tier) = &self.exchange.request.service_tier else { return };
        if self.is_same() {
            return object.field(self.name("serviceTier"), tier);
        }
        let (word, loss) = match &*tier.to_str() {
            "auto" => (None, None),
            "default" | "standard_only" | "standard" => (Some("standard"), None),
            "flex" => (Some("flex"), None),
            "priority" => (Some("priority"), None),
            "fast" | "ultrafast" => {
                let reason = "the nearest tier that the vendor has";
                (Some("priority"), Some((LossKind::Approximated, reason)))
            }
            _ => (None, Some((LossKind::Dropped, "the vendor has no such tier"))),
        };
        object.optional("serviceTier", word);
        if let Some((kind, reason)) = loss {
            self.losing.field(Place::default(), Field::ServiceTier, kind, reason);
        }
    }

    fn store(&mut self) {
        if self.exchange.request.store == Some(true) {
            let reason = "answers are not kept";
            self.losing.field(Place::default(), Field::Store, LossKind::Dropped, reason);
        }
    }
}

fn prefixed(model: &Text<'_>) -> Text<'static> {
    let model = model.to_str();
    match model.starts_with(MODEL_PREFIX) {
        true => Text::plain(model.into_owned()),
        false => Text::plain([MODEL_PREFIX, &model].concat()),
    }
}
