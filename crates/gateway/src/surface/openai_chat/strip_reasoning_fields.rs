//! Thinking that a Chat client sends back to a server which refuses the field: it goes, and every other byte stays.

use std::ops::{Deref, Range};

use memchr::memmem;
use sabir_wire::json::{Json, Kind, Reader, Writer};
use sabir_wire::target::{Dialect, ReasoningField};
use sabir_wire::{LossKind, Report};

/// Where compatible servers have what a model thought, each its own.
const FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// The body without the fields for thinking that a server of that dialect would refuse; none if nothing has to go.
pub(super) fn without_refused(body: &str, dialect: Dialect) -> Option<(String, Report)> {
    let may_hold = memmem::find(body.as_bytes(), b"\"reasoning").is_some();
    if dialect.tolerates_unknown_fields || !may_hold {
        return None;
    }
    let mut cut = Cut { body, dialect, kept: String::new(), copied: 0, report: Report::default() };
    // What cannot be read is for the provider to refuse.
    cut.read().ok()?;
    if cut.copied == 0 {
        return None;
    }
    cut.kept.push_str(&body[cut.copied..]);
    Some((cut.kept, cut.report))
}

struct Cut<'b> {
    body: &'b str,
    dialect: Dialect,
    kept: String,
    /// How much of the body stands in `kept` already.
    copied: usize,
    report: Report,
}

impl Cut<'_> {
    fn read(&mut self) -> sabir_wire::Result<()> {
        let mut reader = Reader::new(self.body);
        reader.object(|key, reader| match (&*key, reader.kind()?) {
            ("messages", Kind::Array) => {
                reader.array(|number, reader| self.message(number, reader))
            }
            _ => reader.skip(),
        })
    }

    fn message(&mut self, number: usize, reader: &mut Reader<'_>) -> sabir_wire::Result<()> {
        if reader.kind()? != Kind::Object {
            return reader.skip();
        }
        let start = reader.position();
        let mut members = Vec::new();
        reader.object(|key, reader| {
            members.push((key, reader.raw()?));
            Ok(())
        })?;
        let place = start..reader.position();
        if members.iter().any(|(key, _)| self.is_refused(key)) {
            self.replace(place, number, &members);
        }
        Ok(())
    }

    fn replace(
        &mut self,
        place: Range<usize>,
        number: usize,
        members: &[(impl Deref<Target = str>, Json<'_>)],
    ) {
        let mut message = Writer::default();
        message.object(|message| {
            for (key, value) in members {
                if self.is_refused(key) {
                    let kind = match value.as_str() {
                        "null" => LossKind::Implied,
                        _ => LossKind::Dropped,
                    };
                    let pointer = format!("/messages/{number}/{}", &**key);
                    let reason = "the server takes no reasoning in this field";
                    self.report.lose(pointer, kind, reason);
                } else {
                    message.key(key);
                    message.value(value);
                }
            }
        });
        self.kept.push_str(&self.body[self.copied..place.start]);
        self.kept.push_str(&message.into_string());
        self.copied = place.end;
    }

    fn is_refused(&self, key: &str) -> bool {
        let own: &[&str] = match self.dialect.reasoning_field {
            ReasoningField::Absent | ReasoningField::ContentChunks => &[],
            ReasoningField::ReasoningContent => &["reasoning_content"],
            ReasoningField::Reasoning => &["reasoning"],
            ReasoningField::ReasoningAndDetails => &["reasoning", "reasoning_details"],
        };
        FIELDS.contains(&key) && !own.contains(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_that_hold_it_change() {
        let body = r#"{ "model":"m", "messages": [ {"role" : "user", "content":"reasoning"}, {"reasoning_content":"hm","role":"assistant","content":"a","tool_calls":[ ]} , {"role":"assistant","content":"b","reasoning_content":null} ], "x": 1.0 }"#;
        let expected = r#"{ "model":"m", "messages": [ {"role" : "user", "content":"reasoning"}, {"role":"assistant","content":"a","tool_calls":[ ]} , {"role":"assistant","content":"b"} ], "x": 1.0 }"#;
        let (kept, report) = without_refused(body, Dialect::OPENAI).unwrap();
        assert_eq!(kept, expected);
        let reported: Vec<_> =
            report.entries().iter().map(|loss| (&*loss.pointer, loss.kind)).collect();
        assert_eq!(
            reported,
            [
                ("/messages/1/reasoning_content", LossKind::Dropped),
                ("/messages/2/reasoning_content", LossKind::Implied)
            ]
        );
        assert!(without_refused(expected, Dialect::OPENAI).is_none());
    }

    #[test]
    fn a_server_keeps_the_field_that_is_its_own() {
        let body = r#"{"messages":[{"reasoning":"r","reasoning_content":"c"}]}"#;
        let kept = |dialect| without_refused(body, dialect).map(|(kept, _)| kept);
        assert_eq!(kept(Dialect::GROQ).unwrap(), r#"{"messages":[{"reasoning":"r"}]}"#);
        assert_eq!(kept(Dialect::MISTRAL).unwrap(), r#"{"messages":[{}]}"#);
        for dialect in [Dialect::DEEPSEEK, Dialect::VLLM, Dialect::UNKNOWN, Dialect::OPENROUTER] {
            assert_eq!(kept(dialect), None);
        }
    }

    #[test]
    fn what_cannot_be_read_is_left_alone() {
        for body in [
            r#"{"messages":[{"reasoning_content":"#,
            r#"["reasoning_content"]"#,
            r#"{"messages":["reasoning"]}"#,
        ] {
            assert!(without_refused(body, Dialect::OPENAI).is_none(), "{body}");
        }
    }
}
