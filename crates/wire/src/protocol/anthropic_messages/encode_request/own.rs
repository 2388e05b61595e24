//! Writing a request that came in this protocol: everything as it was, whatever it was.

use std::borrow::Cow;

use super::blocks::as_string;
use super::blocks::is_string;
use super::blocks::write_own;
use super::blocks::write_own_content;
use super::tools;
use crate::conversation::AllowedMode;
use crate::conversation::Content;
use crate::conversation::Message;
use crate::conversation::OutputFormat;
use crate::conversation::Part;
use crate::conversation::Request;
use crate::conversation::Role;
use crate::conversation::ThinkingMode;
use crate::conversation::ThinkingShow;
use crate::conversation::ToolChoice;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::loss::Report;
use crate::protocol::Exchange;
use crate::protocol::anthropic_messages::types::EMPTY_STOP;
use crate::protocol::anthropic_messages::types::HERE;
use crate::protocol::anthropic_messages::types::NO_CONTENT;
use crate::protocol::anthropic_messages::types::NO_ROLE;
use crate::protocol::anthropic_messages::types::OUTPUT_FORMAT;
use crate::protocol::anthropic_messages::types::SLOT;
use crate::protocol::object::Object;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::NodeSemantics;
use crate::roles::PromptRole;
use crate::roles::ProviderType;
use crate::roles::wire_role;
use crate::target::Disable;
use crate::target::Target;
use crate::target::Thinking;
use crate::target::Vendor;

pub(super) fn encode(exchange: &Exchange<'_>, target: &Target, report: &mut Report) -> String {
    let Exchange { request, .. } = exchange;
    let semantics = exchange.semantics();
    let mut writer = Writer::with_capacity(CAPACITY);
    let mut body = Object::open(&mut writer, Some((semantics.extras(), "")));
    body.optional("model", request.model.as_ref());
    body.optional("max_tokens", request.max_output_tokens.as_ref());
    let mut keeper = Keeper { target, report, has_cut_thinking: false };
    write_messages(&mut body, request, &mut keeper);
    if !request.tools.is_empty() || semantics.tools_stated_empty() {
        body.key("tools").array(|list| tools::write_own(list, &request.tools));
    }
    write_tool_choice(&mut body, request, semantics.extras());
    body.optional("stream", request.stream.as_ref());
    body.optional("temperature", request.sampling.temperature.as_ref());
    body.optional("top_p", request.sampling.top_p.as_ref());
    body.optional("top_k", request.sampling.top_k.as_ref());
    if !request.stop.is_empty() || semantics.has_shape(EMPTY_STOP) {
        body.key("stop_sequences").array(|list| request.stop.iter().for_each(|it| list.value(it)));
    }
    body.optional("service_tier", request.service_tier.as_ref());
    write_metadata(&mut body, request, semantics.extras());
    write_thinking(&mut body, request, semantics.extras(), &mut keeper);
    write_output(&mut body, exchange);
    for (declared, json) in semantics.anthropic().iter().flat_map(|it| it.set()) {
        if !declared.path.contains('/') {
            body.field(declared.path, json);
        }
    }
    body.close();
    writer.into_string()
}

/// What most requests fit in.
const CAPACITY: usize = 4096;

/// Keeps from the vendor what rides in its fields for another. Anyone else may just pass it on.
struct Keeper<'k> {
    target: &'k Target,
    report: &'k mut Report,
    /// Whether the last turn that calls tools is without its thinking now.
    has_cut_thinking: bool,
}

impl Keeper<'_> {
    fn guards(&self) -> bool {
        self.target.family.vendor == Vendor::Anthropic
    }

    /// The parts of a message that the vendor would not refuse, if there are others.
    fn admitted<'m>(&mut self, message: &'m Message<'m>) -> Option<Vec<Cow<'m, Part<'m>>>> {
        let is_odd = |part: &Part<'_>| is_foreign(part) || has_made_citation(part);
        if !self.guards() || !message.parts.iter().any(is_odd) {
            if message.role == Role::Assistant {
                self.has_cut_thinking = false;
            }
            return None;
        }
        let mut parts = Vec::with_capacity(message.parts.len());
        for part in &message.parts {
            if is_foreign(part) {
                let reason = "thinking that another vendor sealed";
                self.lose(part, LossKind::Withheld, reason);
            } else if has_made_citation(part) {
                self.lose(part, LossKind::Dropped, "sources that another vendor cited");
                parts.push(Cow::Owned(without_citations(part)));
            } else {
                parts.push(Cow::Borrowed(part));
            }
        }
        let has_calls = parts.iter().any(|part| matches!(part.content(), Content::ToolCall(_)));
        self.has_cut_thinking = has_calls && message.parts.iter().any(is_foreign);
        Some(parts)
    }

    fn lose(&mut self, part: &Part<'_>, kind: LossKind, reason: &'static str) {
        self.report.lose(part.semantics().place().pointer(""), kind, reason);
    }

    /// Whether thinking has to be switched off, and by which word; thinking goes on only from what came back.
    fn switch_off(&mut self, mode: ThinkingMode) -> Option<Off> {
        let thinking = self.target.family.thinking;
        let never = matches!(thinking, Thinking::AnthropicAdaptive { disable: Disable::Never, .. });
        if !self.has_cut_thinking || never || mode == ThinkingMode::Disabled {
            return None;
        }
        let reason = "the thinking of this tool turn is another vendor's, so that it cannot go on";
        self.report.lose("/thinking", LossKind::Approximated, reason);
        Some(if thinking.by_default() { Off::Disabled } else { Off::Unsaid })
    }
}

/// How thinking is switched off.
enum Off {
    Disabled,
    Unsaid,
}

fn is_foreign(part: &Part<'_>) -> bool {
    part.semantics().artefact().is_some_and(|artefact| artefact.issuer() != HERE)
}

/// Whether a text cites what our own translation of another vendor's answer has put there.
fn has_made_citation(part: &Part<'_>) -> bool {
    part.semantics().citations().iter().any(|citation| {
        let index = citation.json().reader().peek_tag("encrypted_index");
        matches!(index, Ok(Some(index)) if index.is_empty())
    })
}

fn without_citations<'p>(part: &Part<'p>) -> Part<'p> {
    let old = part.semantics();
    let mut semantics = NodeSemantics::at(old.place());
    semantics.keep(old.extras().cloned().unwrap_or_default());
    if let Some(marker) = old.cache() {
        semantics.set_cache(marker.clone());
    }
    Part::new(part.content().clone()).with_semantics(semantics)
}

fn write_messages(body: &mut Object<'_, '_>, request: &Request<'_>, keeper: &mut Keeper<'_>) {
    let slots = request.messages.iter().take_while(|message| is_slot(message)).count();
    let (system, messages) = request.messages.split_at(slots);
    write_system(body, system);
    body.key("messages").array(|list| {
        for message in messages {
            write_message(list, message, keeper);
        }
    });
}

/// Whether a message stands in the system slot: it did, or it was put in front by someone who knows no protocol.
fn is_slot(message: &Message<'_>) -> bool {
    let semantics = message.semantics();
    semantics.has_shape(SLOT) || message.role.instructs() && semantics.place().is_root()
}

fn write_system(body: &mut Object<'_, '_>, system: &[Message<'_>]) {
    match system {
        [] => {}
        [one] => match &*one.parts {
            [part] if is_string(one.semantics(), part) => {
                body.optional("system", as_string(part));
            }
            parts => write_blocks(body.key("system"), parts.iter()),
        },
        several => {
            write_blocks(body.key("system"), several.iter().flat_map(|message| &message.parts));
        }
    }
}

fn write_blocks<'p>(writer: &mut Writer, parts: impl Iterator<Item = &'p Part<'p>>) {
    writer.array(|list| {
        for part in parts {
            write_own(list, part, |_| None);
        }
    });
}

fn write_message(writer: &mut Writer, message: &Message<'_>, keeper: &mut Keeper<'_>) {
    let admitted = keeper.admitted(message);
    if admitted.as_ref().is_some_and(Vec::is_empty) {
        // A message of nothing but foreign thinking would be empty, which is refused.
        return;
    }
    let semantics = message.semantics();
    let mut object = Object::open(writer, semantics.extras().map(|extras| (extras, "")));
    if !semantics.has_shape(NO_ROLE) {
        object.field("role", role_word(message.role));
    }
    if let Some(parts) = admitted {
        write_blocks(object.key("content"), parts.iter().map(|part| &**part));
    } else if !message.parts.is_empty() || !semantics.has_shape(NO_CONTENT) {
        write_own_content(&mut object, &message.parts, semantics);
    }
    object.close();
}

fn role_word(role: Role) -> &'static str {
    wire_role(PromptRole::of(role), ProviderType::Anthropic)
}

fn write_tool_choice(body: &mut Object<'_, '_>, request: &Request<'_>, extras: &Extras<'_>) {
    let choice = match (&request.tool_choice, request.parallel_tool_calls) {
        (None, Some(false)) => &ToolChoice::Auto,
        (None, _) => return,
        (Some(ToolChoice::Other { json, .. }), _) => return body.field("tool_choice", json),
        (Some(choice), _) => choice,
    };
    let mut object = Object::open(body.key("tool_choice"), Some((extras, "tool_choice")));
    match choice {
        ToolChoice::None => object.word("type", "none"),
        ToolChoice::Required | ToolChoice::Allowed { mode: AllowedMode::Required, .. } => {
            object.word("type", "any");
        }
        ToolChoice::Named { name, form: _ } => {
            object.word("type", "tool");
            object.field("name", name);
        }
        ToolChoice::Auto
        | ToolChoice::Allowed { mode: AllowedMode::Auto, .. }
        | ToolChoice::Other { .. } => object.word("type", "auto"),
    }
    if let Some(parallel) = request.parallel_tool_calls {
        object.field("disable_parallel_tool_use", &!parallel);
    }
    object.close();
}

fn write_metadata(body: &mut Object<'_, '_>, request: &Request<'_>, extras: &Extras<'_>) {
    let user = request.safety_identifier.as_ref().or(request.user.as_ref());
    if user.is_none() && extras.within("metadata").next().is_none() {
        return;
    }
    let mut object = Object::open(body.key("metadata"), Some((extras, "metadata")));
    object.optional("user_id", user);
    object.close();
}

fn write_thinking(
    body: &mut Object<'_, '_>,
    request: &Request<'_>,
    extras: &Extras<'_>,
    keeper: &mut Keeper<'_>,
) {
    let thinking = &request.thinking;
    let mode = match (thinking.mode, &thinking.budget) {
        (Some(mode), _) => mode,
        (None, Some(_)) => ThinkingMode::Enabled,
        (None, None) => return,
    };
    match keeper.switch_off(mode) {
        Some(Off::Disabled) => {
            return body.key("thinking").object(|object| object.word("type", "disabled"));
        }
        Some(Off::Unsaid) => return,
        None => {}
    }
    let mut object = Object::open(body.key("thinking"), Some((extras, "thinking")));
    object.field("type", mode_word(mode));
    object.optional("budget_tokens", thinking.budget.as_ref());
    match &thinking.show {
        Some(ThinkingShow::Shown(Some(word))) => object.field("display", word),
        Some(ThinkingShow::Shown(None)) => object.word("display", "summarized"),
        Some(ThinkingShow::Hidden) => object.word("display", "omitted"),
        None => {}
    }
    object.close();
}

fn mode_word(mode: ThinkingMode) -> &'static str {
    match mode {
        ThinkingMode::Enabled => "enabled",
        ThinkingMode::Adaptive => "adaptive",
        ThinkingMode::BetweenTools => "between_tools",
        ThinkingMode::Disabled => "disabled",
    }
}

fn write_output(body: &mut Object<'_, '_>, exchange: &Exchange<'_>) {
    let (request, semantics) = (&exchange.request, exchange.semantics());
    let extras = semantics.extras();
    let is_beta = semantics.has_shape(OUTPUT_FORMAT);
    if is_beta {
        write_format(body, "output_format", (&request.output, extras, "output_format"));
    }
    let task_budget = semantics.anthropic().and_then(|it| it.task_budget());
    let has_format = !is_beta && matches!(request.output, OutputFormat::JsonSchema(_));
    let has_extras = extras.within("output_config").next().is_some();
    if request.thinking.effort.is_none() && task_budget.is_none() && !has_format && !has_extras {
        return;
    }
    let mut object = Object::open(body.key("output_config"), Some((extras, "output_config")));
    object.optional("effort", request.thinking.effort.as_ref());
    if has_format {
        write_format(&mut object, "format", (&request.output, extras, "output_config/format"));
    }
    object.optional("task_budget", task_budget);
    object.close();
}

fn write_format(
    outer: &mut Object<'_, '_>,
    key: &'static str,
    (output, extras, scope): (&OutputFormat<'_>, &Extras<'_>, &'static str),
) {
    let OutputFormat::JsonSchema(schema) = output else { return };
    let mut object = Object::open(outer.key(key), Some((extras, scope)));
    object.word("type", "json_schema");
    object.optional("schema", schema.schema.as_ref());
    object.close();
}
