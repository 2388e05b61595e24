//! What of a conversation with Claude Code a process that waits is known by: what it was told, what it said, and the results of its
//! calls.

use sabir_wire::Result;
use sabir_wire::json::{Json, Kind, Writer};

use super::seed::{Message, Question, Speaker};
use crate::agent::json::{member, text};
use crate::agent::suspend::{Emitted, Known, Outcome, Returned, append};

impl Question {
    /// What a process knows that was asked this.
    pub(super) fn known(&self) -> Known {
        self.known_until(self.messages.len())
    }

    fn known_until(&self, end: usize) -> Known {
        let mut tools = Writer::default();
        tools.array(|it| self.tools.iter().for_each(|tool| tool.write(it)));
        let count = self.system.len().to_string();
        let messages = self.messages[..end].iter().flat_map(|it| [it.speaker.name(), it.content()]);
        let pieces = [tools.as_str(), &count].into_iter();
        Known::of(pieces.chain(self.system.iter().map(String::as_str)).chain(messages))
    }

    /// The request as what a process may wait for: an answer with calls, and nothing but their results behind it.
    pub(in crate::agent) fn returned(&self) -> Option<Returned> {
        let [.., answer, last] = &self.messages[..] else { return None };
        if (answer.speaker, last.speaker) != (Speaker::Assistant, Speaker::User) {
            return None;
        }
        let outcomes = outcomes(last)?;
        let mut emitted = Vec::new();
        parts(&Json::parse(answer.content()).ok()?, &mut emitted)?;
        Some(Returned { known: self.known_until(self.messages.len() - 2), emitted, outcomes })
    }
}

/// Adds the parts of an answer; none if one of them is of a kind that nobody knows.
pub(super) fn parts(content: &Json<'_>, emitted: &mut Vec<Emitted>) -> Option<()> {
    if content.kind() == Kind::String {
        append(emitted, Emitted::Text(content.reader().string().ok()?.into_str().into_owned()));
        return Some(());
    }
    for block in blocks(content)? {
        append(emitted, part(&block)?);
    }
    Some(())
}

fn part(block: &Json<'_>) -> Option<Emitted> {
    match text(block, "type")?.as_str() {
        "text" => Some(Emitted::Text(text(block, "text")?)),
        "thinking" => {
            let signature = text(block, "signature").unwrap_or_default();
            Some(Emitted::Sealed(format!("{signature}\n{}", text(block, "thinking")?)))
        }
        "redacted_thinking" => Some(Emitted::Sealed(text(block, "data")?)),
        "tool_use" => {
            let arguments = member(block, "input")?.as_str().to_owned();
            Some(Emitted::Call { id: text(block, "id")?, name: text(block, "name")?, arguments })
        }
        _ => None,
    }
}

/// The results of a message that has nothing else.
fn outcomes(message: &Message) -> Option<Vec<Outcome>> {
    blocks(&Json::parse(message.content()).ok()?)?.iter().map(outcome).collect()
}

fn outcome(block: &Json<'_>) -> Option<Outcome> {
    let call = text(block, "tool_use_id").filter(|_| is(block, "tool_result"))?;
    let is_error = member(block, "is_error").is_some_and(|it| it.as_str() == "true");
    let content = member(block, "content")?;
    let texts = match content.kind() {
        Kind::String => vec![text(block, "content")?],
        _ => {
            let texts = blocks(&content)?;
            texts
                .iter()
                .map(|it| text(it, "text").filter(|_| is(it, "text")))
                .collect::<Option<_>>()?
        }
    };
    Some(Outcome { call, is_error, texts })
}

fn is(block: &Json<'_>, kind: &str) -> bool {
    text(block, "type").as_deref() == Some(kind)
}

fn blocks<'j>(content: &'j Json<'_>) -> Option<Vec<Json<'j>>> {
    let mut blocks = Vec::new();
    let read: Result<()> = content.reader().array(|_, reader| {
        blocks.push(reader.raw()?);
        Ok(())
    });
    read.ok().map(|()| blocks)
}
