//! Writing requests.

mod config;
mod contents;
mod labels;
mod part;
mod pieces;
mod result;
mod thinking;
mod tool;

pub(super) use part::{PIECE_BREAK, Pen, pieces_make_calls, text_of, write_part};
pub(super) use pieces::takes_seal;

use crate::error::Result;
use crate::json::{Text, Writer};
use crate::loss::{LossKind, Report};
use crate::protocol::calls::Calls;
use crate::protocol::gemini::types::{MODEL_PREFIX, SELF};
use crate::protocol::object::Object;
use crate::protocol::reporter::{Reporter, Subject};
use crate::protocol::semantics::Extras;
use crate::protocol::{DecodedRequest, Field, tier};
use crate::target::{ModelPlace, Target};

pub(in super::super) fn encode_request(
    decoded: &DecodedRequest<'_>,
    target: &Target,
    report: &mut Report,
) -> Result<String> {
    if decoded.protocol() == SELF {
        withhold(decoded, report);
    }
    let mut reporter = Reporter::new(decoded.protocol(), SELF, report);
    reporter.request(decoded);
    let request = &decoded.request;
    let calls = (!reporter.is_same()).then(|| Calls::of(request, SELF, target));
    let mut writer = Writer::with_capacity(decoded.body_bytes_expected());
    let scribe = Scribe {
        decoded,
        target,
        reporter,
        calls: calls.as_ref(),
        mixes_tools: false,
        writes_pieces: false,
    };
    scribe.request(&mut writer);
    Ok(writer.into_string())
}

/// Reports artefacts of other issuers, which not even a request of this protocol may show to its vendor.
fn withhold(decoded: &DecodedRequest<'_>, report: &mut Report) {
    for part in decoded.request.messages.iter().flat_map(|message| &message.parts) {
        if part.semantics().artefact().is_some_and(|artefact| artefact.issuer() != SELF) {
            let pointer = decoded.pointer(Some(part.semantics()), Field::Signature);
            report.lose(pointer, LossKind::Withheld, "another vendor's signature");
        }
    }
}

/// A request that is being written.
struct Scribe<'x, 'r> {
    decoded: &'x DecodedRequest<'x>,
    target: &'x Target,
    reporter: Reporter<'r>,
    /// Names and ids as the vendor takes them; on the same protocol they stay as they are.
    calls: Option<&'x Calls<'x>>,
    /// Whether hosted tools are offered beside functions.
    mixes_tools: bool,
    /// Whether the calls of this turn are written by the pieces in which they came.
    writes_pieces: bool,
}

impl<'x, 'r> Scribe<'x, 'r> {
    fn is_same(&self) -> bool {
        self.reporter.is_same()
    }

    fn extras(&self, scope: &'static str) -> Option<(&'x Extras<'x>, &'static str)> {
        self.is_same().then(|| (self.decoded.semantics().extras(), scope))
    }

    /// The name under which the vendor knows a tool.
    fn tool_name<'t>(&self, name: &'t Text<'_>) -> Text<'t>
    where
        'x: 't,
    {
        self.calls.map_or_else(|| name.reborrow(), |calls| calls.name(name))
    }

    /// The same for a tool that `at` names, with a word about a name that is not its own.
    fn known_name<'t>(&mut self, name: &'t Text<'_>, at: impl Into<Subject>) -> Text<'t>
    where
        'x: 't,
    {
        let known = self.tool_name(name);
        if known != *name {
            self.reporter.renamed(at, "the name does not fit the vendor's alphabet");
        }
        known
    }

    fn request(mut self, writer: &mut Writer) {
        let mut object = Object::open(writer, self.extras(""));
        self.model(&mut object);
        let turns = if self.is_same() { self.same_turns() } else { self.foreign_turns() };
        object.key("contents").array(|contents| {
            for turn in &turns.turns {
                self.content(contents, (turn.side, turn.semantics), turns.pieces_of(turn));
            }
        });
        self.system(&mut object, &turns.system);
        object.list_unless_empty("tools", |writer| self.tools(writer));
        self.tool_config(&mut object);
        self.generation_config(&mut object);
        self.labels(&mut object);
        tier::write(&mut object, "serviceTier", &self.decoded.request, &mut self.reporter);
        if self.decoded.request.store == Some(true) {
            self.reporter.dropped(Field::Store, "answers are not kept");
        }
        self.declared(&mut object, "");
        object.close();
    }

    fn model(&mut self, object: &mut Object<'_, '_>) {
        if self.target.gemini_model == ModelPlace::Url {
            return;
        }
        match &self.decoded.request.model {
            Some(model) => object.field("model", &prefixed(model)),
            None => {
                let (field, reason) = (Field::Model, "the request names no model");
                self.reporter.synthesised(field, reason);
            }
        }
    }

    /// Writes the fields of an object that only this protocol has, for its own requests.
    fn declared(&self, object: &mut Object<'_, '_>, scope: &str) {
        let semantics = if self.is_same() { self.decoded.semantics().gemini() } else { None };
        for (declared, json) in semantics.into_iter().flat_map(|gemini| gemini.set()) {
            let (within, key) = declared.path.split_once('/').unwrap_or(("", declared.path));
            if within == scope {
                object.field(key, json);
            }
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
