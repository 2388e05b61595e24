//! What is stated in messages, part by part.

use std::collections::VecDeque;

use sabir_wire::conversation::{
    Arguments, CallForm, Content, Media, Message, Part, ResultOutput, Role, Source, ToolCall,
    ToolResult,
};
use sabir_wire::protocol::{ArtefactKind, DecodedRequest, Extra, Extras, Field, NodeSemantics};
use sabir_wire::{LossKind, Protocol, base64};
use serde_json::{Value, json};

use super::pairing::{Call, pairs};
use super::values::strings;
use super::{Fact, Group, Node, normal};

/// Where a field of a node stands.
pub(super) type At<'f> = &'f dyn Fn(&NodeSemantics<'_>, Field) -> String;

pub(super) fn of_messages(messages: &[Message<'_>], decoded: &DecodedRequest<'_>) -> Vec<Node> {
    let at = |node: &NodeSemantics<'_>, field: Field| decoded.pointer(Some(node), field);
    let mut reading = Reading::new(decoded.protocol(), &at);
    reading.pairs = pairs(messages);
    messages.iter().for_each(|message| reading.message(message, speaker(message.role)));
    reading.nodes
}

/// The same with every signature on the part that has it.
pub(super) fn of_messages_as_signed(
    messages: &[Message<'_>],
    decoded: &DecodedRequest<'_>,
) -> Vec<Node> {
    let at = |node: &NodeSemantics<'_>, field: Field| decoded.pointer(Some(node), field);
    let mut reading = Reading::new(decoded.protocol(), &at);
    reading.seals = Seals::AsSigned;
    reading.pairs = pairs(messages);
    messages.iter().for_each(|message| reading.message(message, speaker(message.role)));
    reading.nodes
}

pub(super) fn of_answer(
    message: &Message<'_>,
    (protocol, number): (Protocol, usize),
    at: At<'_>,
) -> Vec<Node> {
    let mut reading = Reading::new(protocol, at);
    reading.message(message, &format!("answer {number}"));
    reading.nodes
}

/// Who speaks: a protocol has one word for instructions or two, and results are the user's or a speaker's of their own.
fn speaker(role: Role) -> &'static str {
    match role {
        Role::System | Role::Developer => "instructions",
        Role::User | Role::Tool => "user",
        Role::Assistant => super::ASSISTANT,
    }
}

/// On which part a signature is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seals {
    /// A signature seals the turn up to its part, so a thought and what follows it share one: it is compared on the part
    /// behind the thought, where there is one without. What says nothing, or only one protocol has, does not count, so
    /// that the seal of an empty text or thought is that of the thought before it.
    Shared,
    AsSigned,
}

struct Reading<'f> {
    protocol: Protocol,
    at: At<'f>,
    nodes: Vec<Node>,
    seals: Seals,
    /// The calls that the results to come answer.
    pairs: VecDeque<Option<Call>>,
}

impl<'f> Reading<'f> {
    fn new(protocol: Protocol, at: At<'f>) -> Self {
        Self { protocol, at, nodes: Vec::new(), seals: Seals::Shared, pairs: VecDeque::new() }
    }

    fn message(&mut self, message: &Message<'_>, speaker: &str) {
        let place = message.semantics().place().to_string();
        let at = |field: Field| (self.at)(message.semantics(), field);
        let mut head = Node::new(format!("{speaker} message"), place);
        let name = message.name.as_ref().map(normal::text).unwrap_or_default();
        head = head.with("name", name, at(Field::MessageName));
        head.facts.extend(semantics(self.protocol, message.semantics(), &at));
        if head.facts.iter().any(|fact| !normal::is_void(&fact.value)) {
            self.nodes.push(head);
        }
        for part in &message.parts {
            if let Content::ToolResult(result) = part.content() {
                self.result(part, result);
                continue;
            }
            let node = self.part(part, speaker);
            self.push(node);
        }
    }

    fn push(&mut self, mut node: Node) {
        let is_shared = self.seals == Seals::Shared && !is_fleeting(&node);
        let last = self.nodes.iter_mut().rev().find(|it| !is_fleeting(it));
        let thought = last.filter(|it| is_shared && is_thought(it));
        if let Some(thought) = thought {
            match (is_sealed(thought), is_sealed(&node)) {
                (true, false) if !is_thought(&node) => move_seals(thought, &mut node),
                (false, true) if is_mere_seal(&node) => move_seals(&mut node, thought),
                _ => {}
            }
        }
        self.nodes.push(node);
    }

    fn part(&mut self, part: &Part<'_>, speaker: &str) -> Node {
        let place = part.semantics().place().to_string();
        let to = self.at;
        let at = |field: Field| to(part.semantics(), field);
        let sort = |word: &str| format!("{speaker} {word}");
        let mut node = match part.content() {
            Content::Text(text) => {
                Node::new(sort("text"), place).with("text", normal::text(text), at(Field::Text))
            }
            Content::Refusal(text) => Node::new(sort("refusal"), place).with(
                "text",
                normal::text(text),
                at(Field::Refusal),
            ),
            Content::Media(media) => of_media(media, Node::new(sort("media"), place), &at),
            Content::ToolCall(call) => self.call(call, Node::new(sort("call"), place), &at),
            // Results are read with what they hold, and hold no others.
            Content::ToolResult(_) => Node::new(sort("result"), place),
            Content::Reasoning(reasoning) => {
                // A piece without characters says nothing.
                let texts = reasoning.texts.iter().filter(|text| !text.is_empty());
                let texts: Vec<Value> = texts.map(normal::text).collect();
                Node::new(sort("reasoning"), place).with(TEXTS, texts, at(Field::Reasoning))
            }
            Content::Opaque(opaque) => {
                let sort = sort(&format!("{} {}", opaque.protocol.as_str(), opaque.kind.to_str()));
                Node::new(sort, place).with(JSON, normal::json(&opaque.json), at(Field::Opaque))
            }
        };
        node.facts.extend(semantics(self.protocol, part.semantics(), &at));
        node
    }

    fn call(&self, call: &ToolCall<'_>, node: Node, at: &dyn Fn(Field) -> String) -> Node {
        let arguments = match &call.arguments {
            Arguments::Json(json) => normal::json(json),
            Arguments::Text(text) => normal::text(text),
        };
        let arguments = match call.form {
            CallForm::Function => normal::parsed(arguments),
            CallForm::Custom => arguments,
        };
        // A call without arguments has an empty object of them.
        let is_empty = match &arguments {
            Value::Object(object) => object.is_empty(),
            other => normal::is_void(other),
        };
        let arguments = if is_empty { Value::Null } else { normal::solid(arguments) };
        node.with("form", call_form(call.form), at(Field::ToolCall))
            .with("name", normal::text(&call.name), at(Field::CallName))
            .with("arguments", arguments, at(Field::CallArguments))
    }

    /// Adds a result, and behind it what it holds. Its call has the name of the tool.
    fn result(&mut self, part: &Part<'_>, result: &ToolResult<'_>) {
        let to = self.at;
        let at = |field: Field| to(part.semantics(), field);
        let call = self.pairs.pop_front().flatten();
        let name = result.name.as_ref().map(normal::text);
        let name = name.filter(|_| call.is_none());
        let (is_error, response) = output(result);
        let mut node = Node::new("user result", part.semantics().place().to_string())
            .with("call", call.map(|call| call.number), at(Field::ResultCallId))
            .with("name", name, at(Field::ResultName))
            .with("error", is_error, at(Field::ResultIsError));
        node.facts.extend(semantics(self.protocol, part.semantics(), &at));
        self.nodes.push(node);
        if let Some(response) = response {
            let node = Node::new("result text", at(Field::ResultOutput));
            self.nodes.push(node.with("text", response, at(Field::ResultOutput)));
        }
        for part in result.output.parts() {
            let mut inner = self.part(part, "result");
            let texts = inner.facts.iter_mut().filter(|fact| fact.name == "text");
            texts.for_each(|fact| fact.value = result_text(fact.value.take()));
            self.nodes.push(inner);
        }
    }
}

/// Joins texts and thoughts of which nothing else is stated with those that follow: a stream cut them.
pub(super) fn joined(nodes: Vec<Node>) -> Vec<Node> {
    let mut joined: Vec<Node> = Vec::new();
    for mut node in nodes {
        if let Some(last) = joined.last()
            && last.sort == node.sort
            && let (Some(head), Some(tail)) = (lone_words(last), words_mut(&mut node))
        {
            *tail = Value::from(format!("{head}{}", tail.as_str().unwrap_or_default()));
            node.place = joined.pop().map_or(node.place, |last| last.place);
        }
        joined.push(node);
    }
    joined
}

/// The text of a part or thought that states nothing else.
fn lone_words(node: &Node) -> Option<String> {
    let mut stated = node.facts.iter().filter(|fact| !normal::is_void(&fact.value));
    let only = stated.next().filter(|_| stated.next().is_none())?;
    match &only.value {
        Value::String(text) if only.name == TEXT => Some(text.clone()),
        Value::Array(texts) if only.name == TEXTS && texts.len() == 1 => {
            texts[0].as_str().map(str::to_owned)
        }
        _ => None,
    }
}

fn words_mut(node: &mut Node) -> Option<&mut Value> {
    let fact = node.facts.iter_mut().find(|fact| [TEXT, TEXTS].contains(&&*fact.name))?;
    match fact.name == TEXTS {
        true => fact.value.as_array_mut()?.first_mut(),
        false => Some(&mut fact.value),
    }
}

/// What users show, and what tools return beside text.
pub(super) const USER_MEDIA: &str = "user media";
pub(super) const RESULT_MEDIA: &str = "result media";

/// How the sorts of media end, whoever shows them.
pub(super) const MEDIA: &str = " media";

/// The fact that holds what media are.
pub(super) const KIND: &str = "kind";

/// The facts that hold what was said and what was thought.
pub(super) const TEXT: &str = "text";
pub(super) const TEXTS: &str = "texts";

/// The fact that holds what only one protocol has.
const JSON: &str = "json";

/// The facts that hold sources and the probabilities of tokens.
pub(super) const CITATION: &str = "citation ";
pub(super) const LOGPROBS: &str = "log probabilities";

/// How the facts begin that hold fields that only one protocol has, or that nobody knows.
const UNKNOWN: &str = "unknown ";

/// What only one protocol has, if a node is that.
pub(super) fn opaque(node: &Node) -> Option<&Value> {
    node.facts.iter().find(|fact| fact.name == JSON).map(|fact| &fact.value)
}

/// Whether a node need not arrive: it says nothing, or what only one protocol has, or is a medium that a model made, which most
/// protocols have no place for.
pub(super) fn is_fleeting(node: &Node) -> bool {
    let is_opaque = opaque(node).is_some();
    let is_made = node.sort.ends_with(MEDIA) && ![RESULT_MEDIA, USER_MEDIA].contains(&&*node.sort);
    is_opaque
        || is_made
        || node.facts.iter().all(|fact| normal::is_void(&fact.value) || is_aside(fact))
}

/// Whether a fact is said of what a node says, which is nothing by itself.
fn is_aside(fact: &Fact) -> bool {
    let asides = [UNKNOWN, CITATION, LOGPROBS, "cache marker", "phase"];
    asides.iter().any(|aside| fact.name.starts_with(aside))
}

const SEALS: [Field; 2] = [Field::Signature, Field::Ciphertext];

fn is_seal(fact: &Fact) -> bool {
    SEALS.iter().any(|field| field.name() == fact.name)
}

pub(super) fn is_thought(node: &Node) -> bool {
    node.sort.ends_with("reasoning")
}

/// Whether a node says nothing, and only bears what seals the turn up to it.
fn is_mere_seal(node: &Node) -> bool {
    is_sealed(node) && node.facts.iter().all(|fact| is_seal(fact) || normal::is_void(&fact.value))
}

/// The same, or blanks, which no client need send back.
pub(super) fn is_seal_of_blanks(node: &Node) -> bool {
    let is_blank = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
    let is_without_words = |fact: &Fact| normal::is_void(&fact.value) || is_blank(&fact.value);
    is_sealed(node) && node.facts.iter().all(|fact| is_seal(fact) || is_without_words(fact))
}

/// Gives the seal of a thought to the part behind it and behind all thoughts between them, if it has none and these thoughts
/// have become one of `others`.
pub(super) fn hand_on_seals(nodes: &mut [Node], others: &[String]) {
    for index in 1..nodes.len() {
        let (before, from) = nodes.split_at_mut(index);
        let behind = &mut from[0];
        if is_fleeting(behind) || is_thought(behind) || is_sealed(behind) {
            continue;
        }
        let thoughts = before.iter_mut().rev().filter(|it| !is_fleeting(it) || is_thought(it));
        let run: Vec<&mut Node> = thoughts.take_while(|it| is_thought(it)).collect();
        let whole: String = run.iter().rev().map(|it| thought(it)).collect();
        if others.contains(&whole)
            && let Some(sealed) = run.into_iter().find(|it| is_sealed(it))
        {
            move_seals(sealed, behind);
        }
    }
}

/// What is thought, white space apart.
pub(super) fn thought(node: &Node) -> String {
    let texts = node.facts.iter().filter(|fact| fact.name == TEXTS);
    let texts = texts.flat_map(|fact| strings(&fact.value));
    texts.flat_map(str::split_whitespace).collect()
}

fn is_sealed(node: &Node) -> bool {
    node.facts.iter().any(|fact| is_seal(fact) && !normal::is_void(&fact.value))
}

fn move_seals(from: &mut Node, to: &mut Node) {
    for seal in from.facts.extract_if(.., |fact| is_seal(fact) && !normal::is_void(&fact.value)) {
        to.facts.retain(|fact| fact.name != seal.name);
        to.facts.push(seal);
    }
}

/// Whether a result is an error, and the object that it is where it has one: Gemini has both in one object.
fn output(result: &ToolResult<'_>) -> (Option<bool>, Option<Value>) {
    let ResultOutput::Object { response, .. } = &result.output else {
        return (result.is_error, None);
    };
    let response = normal::json(response);
    let only = response.as_object().filter(|it| it.len() == 1).and_then(|it| it.iter().next());
    match only {
        Some((key, value @ Value::String(_))) if key == "output" => {
            (result.is_error, Some(result_text(value.clone())))
        }
        Some((key, value @ Value::String(_))) if key == "error" => {
            (Some(true), Some(result_text(value.clone())))
        }
        _ => (result.is_error, Some(normal::solid(response))),
    }
}

/// What the text of a result says. Of no text it is nothing.
fn result_text(text: Value) -> Value {
    match normal::is_void(&text) {
        true => text,
        false => normal::solid(normal::parsed(text)),
    }
}

fn of_media(media: &Media<'_>, node: Node, at: &dyn Fn(Field) -> String) -> Node {
    let Media { kind, source, detail, name } = media;
    let place = node.place.clone();
    // What holds nothing is nothing of any kind.
    let is_empty = match source {
        Source::Base64 { data, .. } => data.is_empty(),
        Source::Text { text, .. } => text.is_empty(),
        Source::Url { .. } | Source::File { .. } => false,
    };
    let node = match source {
        Source::Base64 { data, .. } => node.with("data", normal::base64(data), place.clone()),
        Source::Text { text, .. } => {
            let data = sabir_wire::json::Text::plain(base64::encode(text.to_str().as_bytes()));
            node.with("data", normal::base64(&data), place.clone())
        }
        Source::Url { url, .. } => node.with("url", normal::text(url), at(Field::MediaUrl)),
        Source::File { id, .. } => node.with("file", normal::text(id), at(Field::MediaFile)),
    };
    let mime = source.mime().map(normal::mime);
    let plain = || matches!(source, Source::Text { .. }).then(|| Value::from("text/plain"));
    // What stands at an address says itself what it is.
    let mime = mime.or_else(plain).filter(|_| !matches!(source, Source::Url { .. }) && !is_empty);
    let kind = (!is_empty).then(|| format!("{kind:?}"));
    node.with(KIND, kind, place.clone())
        .with("type", mime, place)
        .with("detail", detail.as_ref().map(normal::text), at(Field::MediaDetail))
        .with("name", name.as_ref().map(normal::text), at(Field::MediaName))
}

fn call_form(form: CallForm) -> &'static str {
    match form {
        CallForm::Function => "",
        CallForm::Custom => "custom",
    }
}

/// What is stated beside the content of a node.
pub(super) fn semantics(
    protocol: Protocol,
    semantics: &NodeSemantics<'_>,
    at: &dyn Fn(Field) -> String,
) -> Vec<Fact> {
    let place = semantics.place().to_string();
    let mut facts = Vec::new();
    for kind in [ArtefactKind::Signature, ArtefactKind::Ciphertext] {
        let field = match kind {
            ArtefactKind::Signature => Field::Signature,
            ArtefactKind::Ciphertext => Field::Ciphertext,
        };
        let artefact = semantics.artefact().filter(|artefact| artefact.kind() == kind);
        let value = artefact.map(|it| {
            // What is JSON in one protocol is a string in others, where white space stays.
            json!([it.issuer().as_str(), normal::parsed(normal::text(it.data()))])
        });
        facts.push(Fact::new(field.name(), value, at(field)));
    }
    if let Some(marker) = semantics.cache() {
        let pointer = format!("{place}/{}", marker.key);
        facts.push(Fact::new("cache marker", "marked", pointer.clone()));
        let ttl = marker.ttl.as_ref().map(normal::text);
        facts.push(Fact::new("cache marker: ttl", ttl, format!("{pointer}/ttl")));
    }
    for (number, citation) in semantics.citations().iter().enumerate() {
        let value = json!([
            citation.url().map(normal::text),
            citation.title().map(normal::text),
            citation.cited_text().map(normal::text),
        ]);
        let pointer = citation.place().map(|place| place.to_string());
        let pointer = pointer.unwrap_or_else(|| at(Field::Citations));
        facts.push(Fact::new(format!("{CITATION}{number}"), value, pointer));
    }
    if let Some(logprobs) = semantics.logprobs() {
        let value = normal::json(&logprobs.entries());
        let pointer = logprobs.place().map(|place| place.to_string());
        let pointer = pointer.unwrap_or_else(|| at(Field::PartLogprobs));
        facts.push(Fact::new(LOGPROBS, value, pointer));
    }
    if let Some(phase) = semantics.item().and_then(|item| item.phase.as_ref()) {
        facts.push(Fact::new("phase", normal::text(phase), format!("{}/phase", item_of(&place))));
    }
    let at = semantics.place();
    if let Some(extras) = semantics.extras() {
        facts.extend(of_extras(protocol, extras, &|extra| extra.place(at).to_string()));
    }
    if let Some(item) = semantics.item() {
        let place = |extra: &Extra<'_>| item_of(&extra.place(at).to_string()).to_owned();
        facts.extend(of_extras(protocol, &item.extras, &place));
    }
    facts
}

/// Fields that only one protocol has, or that nobody knows. What a protocol declares as implied states nothing of the
/// conversation: the declaration says why, and is in the matrix.
pub(super) fn of_extras(
    protocol: Protocol,
    extras: &Extras<'_>,
    place: &dyn Fn(&Extra<'_>) -> String,
) -> Vec<Fact> {
    let declared = protocol.declared_of_nodes();
    let is_implied = |pointer: &str| {
        let mut declared = declared.iter().filter(|it| it.kind == LossKind::Implied);
        declared.any(|it| it.path == pointer.trim_start_matches('/'))
    };
    let is_spelling = |pointer: &str| {
        let mut declared = declared.iter().filter(|it| it.kind == LossKind::Approximated);
        declared.any(|it| it.path == pointer.trim_start_matches('/'))
    };
    let extras = extras.iter().filter(|extra| !extra.is_void() && !is_implied(&extra.pointer()));
    let fact = |extra: &Extra<'_>| {
        let (place, pointer) = (place(extra), extra.pointer());
        let value = normal::json(&extra.json);
        // A stream emits the message in deltas.
        let inner = pointer.strip_prefix("/message").filter(|_| place.ends_with("/delta"));
        let place = format!("{place}{}", inner.unwrap_or(&pointer));
        let group = if is_spelling(&pointer) { Group::Spelling } else { Group::Alone };
        Fact::new(format!("{UNKNOWN}{pointer}"), value, place).of(group)
    };
    extras.map(fact).collect()
}

/// The item that holds the content at a place.
fn item_of(place: &str) -> &str {
    let inner = place.rsplit_once("/content/").map(|(item, _)| item);
    inner.or(place.strip_suffix("/content")).unwrap_or(place)
}
