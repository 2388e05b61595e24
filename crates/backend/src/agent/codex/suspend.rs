//! What of a conversation with Codex a process that waits is known by: what it was told, what it said, and the results of its calls.

use sabir_wire::json::{Json, Kind, Writer};

use super::seed::Question;
use crate::agent::json;
use crate::agent::json::{member, text};
use crate::agent::suspend::{Emitted, Known, Outcome, Pending, Returned, append};

impl Question {
    /// What a process knows that was asked this.
    pub(super) fn known(&self) -> Known {
        self.known_until(self.items.len())
    }

    fn known_until(&self, end: usize) -> Known {
        let mut tools = Writer::default();
        tools.array(|it| self.tools.iter().for_each(|tool| tool.write(it)));
        let effort = self.effort.as_deref().unwrap_or_default();
        let schema = self.schema.as_deref().unwrap_or_default();
        let text = self.text.as_deref().unwrap_or_default();
        let settings = [&self.instructions, tools.as_str(), effort, schema, text].into_iter();
        Known::of(settings.chain(self.items[..end].iter().map(String::as_str)))
    }

    /// The request as what a process may wait for: an answer with calls, and nothing but their results behind it.
    pub(in crate::agent) fn returned(&self) -> Option<Returned> {
        let items: Vec<_> =
            self.items.iter().filter_map(|it| Json::parse(it.as_str()).ok()).collect();
        let before = |end: usize, fits: fn(&Json<'_>) -> bool| {
            items[..end].iter().rposition(|item| !fits(item)).map_or(0, |last| last + 1)
        };
        let answered = before(items.len(), is_result);
        let asked = before(answered, is_answer);
        if items.len() < self.items.len() || answered == items.len() || asked == answered {
            return None;
        }
        let mut emitted = Vec::new();
        items[asked..answered].iter().try_for_each(|item| part(item, &mut emitted))?;
        let outcomes = items[answered..].iter().map(outcome).collect::<Option<_>>()?;
        Some(Returned { known: self.known_until(asked), emitted, outcomes })
    }
}

fn kind(item: &Json<'_>) -> String {
    text(item, "type").unwrap_or_default()
}

fn is_result(item: &Json<'_>) -> bool {
    kind(item) == "function_call_output"
}

/// Whether the model says such things.
fn is_answer(item: &Json<'_>) -> bool {
    match kind(item).as_str() {
        "reasoning" | "function_call" => true,
        "message" => text(item, "role").as_deref() == Some("assistant"),
        _ => false,
    }
}

/// Adds an item to an answer; none if it is of a kind that nobody knows.
pub(super) fn part(item: &Json<'_>, emitted: &mut Vec<Emitted>) -> Option<()> {
    match kind(item).as_str() {
        // What is not sealed is for nobody but the reader.
        "reasoning" => {
            let sealed = text(item, "encrypted_content");
            sealed.into_iter().for_each(|sealed| append(emitted, Emitted::Sealed(sealed)));
        }
        "message" => append(
            emitted,
            Emitted::Text(texts(&member(item, "content")?, "output_text")?.concat()),
        ),
        "function_call" => {
            let (id, name) = (text(item, "call_id")?, text(item, "name")?);
            append(emitted, Emitted::Call { id, name, arguments: text(item, "arguments")? });
        }
        _ => return None,
    }
    Some(())
}

fn outcome(item: &Json<'_>) -> Option<Outcome> {
    let output = member(item, "output")?;
    let texts = match output.kind() {
        Kind::String => vec![text(item, "output")?],
        _ => texts(&output, "input_text")?,
    };
    Some(Outcome { call: text(item, "call_id")?, is_error: false, texts })
}

/// The texts of a list that has nothing else.
fn texts(parts: &Json<'_>, kind: &str) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    let read = parts.reader().array(|_, reader| {
        let part = reader.raw()?;
        texts.push(text(&part, "text").filter(|_| text(&part, "type").as_deref() == Some(kind)));
        Ok(())
    });
    read.ok()?;
    texts.into_iter().collect()
}

/// The result of a call, as the answer to the request that makes it.
pub(super) fn returned(pending: &Pending, outcome: &Outcome) -> String {
    let mut writer = Writer::default();
    writer.object(|it| {
        it.key("id");
        json::write(&pending.request, it);
        it.object_field("result", |it| {
            it.array_field("contentItems", |it| {
                for text in &outcome.texts {
                    it.object(|it| {
                        it.field("type", "inputText");
                        it.field("text", text);
                    });
                }
            });
            it.field("success", &!outcome.is_error);
        });
    });
    writer.into_string()
}
