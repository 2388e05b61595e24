//! What to answer, decided from the question alone and shared by all APIs.

use serde_json::{Value, json};

use super::question::{Choice, Format, Media, Question, Thinking, Tool, ToolInput};
use super::tokens::BYTES_PER_TOKEN;
use super::{sampler, script, tokens};

/// An answer before an API gives it a shape.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// What was thought, shown or not.
    pub(super) thinking: Option<String>,
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
    pub(super) end: End,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) input: CallInput,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum CallInput {
    Arguments(Value),
    Freeform(String),
}

/// Why the answer ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    Stop,
    StopSequence(String),
    Length,
    Calls,
    /// The text is a refusal.
    Refusal,
}

const QUOTE_LETTERS: usize = 200;

impl Plan {
    /// The answers to a question, one for each candidate.
    pub(super) fn all(question: &Question) -> Vec<Self> {
        (0..question.candidates).map(|number| Self::of(question, number)).collect()
    }

    fn of(question: &Question, candidate: usize) -> Self {
        let mut plan = Self::unlimited(question);
        if candidate > 0 && plan.end == End::Stop && question.format == Format::Text {
            plan.text = format!("({}) {}", candidate + 1, plan.text);
        }
        plan.stop_at(&question.stops);
        if let Some(most) = question.output_tokens_max {
            plan.limit(most);
        }
        plan
    }

    fn unlimited(question: &Question) -> Self {
        let thinking = (question.thinking != Thinking::Off).then(|| thoughts(question));
        if script::asks_refusal(&question.instructions()) {
            let text = "I can't help with that.".to_owned();
            return Self { thinking, text, calls: Vec::new(), end: End::Refusal };
        }
        let calls = calls(question);
        if !calls.is_empty() {
            return Self { thinking, text: String::new(), calls, end: End::Calls };
        }
        Self { thinking, text: text(question), calls, end: End::Stop }
    }

    fn stop_at(&mut self, stops: &[String]) {
        let found = stops.iter().filter(|stop| !stop.is_empty());
        let found = found.filter_map(|stop| Some((self.text.find(stop.as_str())?, stop)));
        if let Some((place, stop)) = found.min() {
            self.text.truncate(place);
            self.end = End::StopSequence(stop.clone());
        }
    }

    /// Cuts the answer to so many tokens. A call is made whole or not at all.
    fn limit(&mut self, most: u64) {
        let mut left = most;
        for text in self.thinking.iter_mut().chain([&mut self.text]) {
            let needed = tokens::of_text(text);
            if needed > left {
                cut(text, left);
                self.end = End::Length;
            }
            left = left.saturating_sub(needed);
        }
        let mut kept = Vec::new();
        for call in self.calls.drain(..) {
            if call.tokens() > left {
                self.end = End::Length;
                break;
            }
            left -= call.tokens();
            kept.push(call);
        }
        self.calls = kept;
    }

    pub(super) fn thinking_tokens(&self) -> u64 {
        self.thinking.as_deref().map_or(0, tokens::of_text)
    }

    /// What the answer counts without its thinking.
    pub(super) fn visible_tokens(&self) -> u64 {
        tokens::of_text(&self.text) + self.calls.iter().map(Call::tokens).sum::<u64>()
    }

    /// What of the thinking may be shown.
    pub(super) fn shown_thinking(&self, question: &Question) -> Option<&str> {
        let text = self.thinking.as_deref()?;
        Some(if question.thinking == Thinking::Shown { text } else { "" })
    }
}

impl Call {
    /// The input as the text that a model would have written.
    pub(super) fn input_text(&self) -> String {
        match &self.input {
            CallInput::Arguments(arguments) => arguments.to_string(),
            CallInput::Freeform(text) => text.clone(),
        }
    }

    fn tokens(&self) -> u64 {
        tokens::of_text(&self.name) + tokens::of_text(&self.input_text())
    }
}

fn cut(text: &mut String, tokens: u64) {
    let mut end = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN);
    end = end.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
}

fn calls(question: &Question) -> Vec<Call> {
    let mut calls = match &question.choice {
        Choice::Never => Vec::new(),
        _ => match dictated(question) {
            calls if !calls.is_empty() => calls,
            _ if !question.results().is_empty() => Vec::new(),
            _ => asked_for(question),
        },
    };
    if !question.may_call_several {
        calls.truncate(1);
    }
    calls
}

/// The calls that the user dictated for this round.
fn dictated(question: &Question) -> Vec<Call> {
    let rounds = script::rounds(&question.instructions());
    let round = rounds.into_iter().nth(question.rounds()).unwrap_or_default();
    let made = round.into_iter().filter_map(|dictated| {
        let tool = callable(question).find(|tool| tool.name == dictated.tool)?;
        Some(call(tool, dictated.arguments))
    });
    made.collect()
}

/// The calls of the tools that the user's text names, or of the first one where a call is forced.
fn asked_for(question: &Question) -> Vec<Call> {
    let item_of = question.item_of();
    let named: Vec<&Tool> =
        callable(question).filter(|tool| script::names(item_of, &tool.name)).collect();
    let forced = matches!(question.choice, Choice::Must(_)).then(|| callable(question).next());
    let tools = if named.is_empty() { forced.flatten().into_iter().collect() } else { named };
    tools.into_iter().map(|tool| call(tool, sampled(tool, item_of))).collect()
}

fn callable(question: &Question) -> impl Iterator<Item = &Tool> {
    let names: &[String] = match &question.choice {
        Choice::Must(names) | Choice::Among(names) => names,
        Choice::Auto | Choice::Never => &[],
    };
    question.tools.iter().filter(|tool| names.is_empty() || names.contains(&tool.name))
}

fn sampled(tool: &Tool, item_of: &str) -> Value {
    match &tool.input {
        ToolInput::Schema(schema) => match sampler::sample(schema, word_of(item_of)) {
            Value::Object(arguments) => Value::Object(arguments),
            _ => json!({}),
        },
        ToolInput::Freeform => Value::String(script::beginning(item_of, QUOTE_LETTERS)),
    }
}

fn call(tool: &Tool, arguments: Value) -> Call {
    let input = match (&tool.input, arguments) {
        (ToolInput::Freeform, Value::String(text)) => CallInput::Freeform(text),
        (ToolInput::Freeform, Value::Object(members)) if members.len() == 1 => {
            let text = members.get("input").and_then(Value::as_str);
            CallInput::Freeform(text.unwrap_or_default().to_owned())
        }
        (ToolInput::Freeform, other) => CallInput::Freeform(other.to_string()),
        (ToolInput::Schema(_), arguments) => CallInput::Arguments(arguments),
    };
    Call { name: tool.name.clone(), namespace: tool.namespace.clone(), input }
}

/// The last long word of a text, to show in sampled arguments that it was read.
fn word_of(item_of: &str) -> &str {
    let mut words = item_of.split(|letter: char| !letter.is_alphanumeric());
    words.rfind(|word| word.chars().count() >= 3).unwrap_or("sample")
}

fn text(question: &Question) -> String {
    match &question.format {
        Format::Text => prose(question),
        Format::Object => {
            let item_of = script::beginning(question.item_of(), QUOTE_LETTERS);
            json!({"simulator": question.api, "item_of": item_of}).to_string()
        }
        Format::Schema(schema) => sampler::sample(schema, word_of(question.item_of())).to_string(),
        Format::Word(words) => words.first().cloned().unwrap_or_default(),
    }
}

fn prose(question: &Question) -> String {
    let item_of = question.instructions();
    if let Some(count) = script::asks_words(&item_of) {
        return script::repeated(count);
    }
    let mut out =
        format!("This is Sabir's {} simulator, answering as `{}`.", question.api, question.model);
    let results = question.results();
    if results.is_empty() {
        out.push_str(&format!(" You said: {}.", quoted(question.item_of())));
    } else {
        let results: Vec<String> = results.iter().map(|text| quoted(text)).collect();
        out.push_str(&format!(" The tools said: {}.", results.join(", ")));
    }
    out.push_str(&media(question));
    if script::asks_unicode(&item_of) {
        out.push(' ');
        out.push_str(script::UNICODE);
    }
    out
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", script::beginning(text, QUOTE_LETTERS))
}

fn media(question: &Question) -> String {
    let kinds = [
        (Media::Image, "image", "images"),
        (Media::Audio, "recording", "recordings"),
        (Media::Video, "video", "videos"),
        (Media::File, "file", "files"),
    ];
    let seen = kinds.iter().filter_map(|(kind, one, many)| match question.media(*kind) {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    });
    let seen: Vec<String> = seen.collect();
    if seen.is_empty() { String::new() } else { format!(" I see {}.", seen.join(", ")) }
}

fn thoughts(question: &Question) -> String {
    format!(
        "The user wrote {}. I know what to do.",
        quoted(&script::beginning(question.item_of(), 40))
    )
}
