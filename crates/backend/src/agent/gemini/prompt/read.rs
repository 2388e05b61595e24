//! What Gemini CLI prints in its streaming JSON format, an object a line.
//!
//! The prompt comes back as a message of the user and is not part of the answer. A line that is no object, or of a type
//! that is not known, is passed over.

use sabir_wire::Result;
use sabir_wire::conversation::{Count, Counts};
use sabir_wire::json::{Kind, Reader};

use crate::agent::ansi::Cleaner;
use crate::agent::json::string;

/// The answer, as far as it was read.
#[derive(Default)]
pub(super) struct Reading {
    cleaner: Cleaner,
    piece: Piece,
    /// The last error that was reported, which explains a failure that says nothing itself.
    complaint: Option<String>,
}

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Nothing,
    /// More of the answer.
    Text(String),
    /// The answer is complete, and this is what it cost.
    Success(Option<Counts>),
    /// The agent says that it failed, with its own words where it has any.
    Failure(Option<String>),
}

/// The last piece of text that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Piece {
    #[default]
    None,
    /// A whole message, or one that something else has ended.
    Whole,
    /// A part, to which the next part belongs.
    Delta,
}

impl Reading {
    /// Takes one line. One that is no JSON object is a warning of the runtime, say.
    pub(super) fn line(&mut self, line: &[u8]) -> Step {
        Line::read(line).map_or(Step::Nothing, |line| self.take(line))
    }

    /// What was held back, when no more comes.
    pub(super) fn finish(self) -> String {
        self.cleaner.finish()
    }

    fn take(&mut self, line: Line) -> Step {
        match line.kind.as_str() {
            "message" if line.role == "assistant" => return self.message(&line),
            // What follows a tool's work is a message of its own.
            "tool_use" | "tool_result" if self.piece == Piece::Delta => self.piece = Piece::Whole,
            "error" => self.complaint = line.reason,
            "result" if line.is_success => return Step::Success(line.counts),
            "result" => return Step::Failure(line.reason.or(self.complaint.take())),
            _ => {}
        }
        Step::Nothing
    }

    /// Deltas are joined as they are; a line break stands only between messages.
    fn message(&mut self, line: &Line) -> Step {
        let Some(content) = &line.content else { return Step::Nothing };
        let piece = if line.is_delta { Piece::Delta } else { Piece::Whole };
        let goes_on = self.piece == Piece::Delta && piece == Piece::Delta;
        let is_apart = self.piece != Piece::None && !goes_on;
        self.piece = piece;
        let text = if is_apart { format!("\n{content}") } else { content.clone() };
        Step::Text(self.cleaner.push(&text))
    }
}

/// What matters of a line.
struct Line {
    kind: String,
    role: String,
    content: Option<String>,
    is_delta: bool,
    /// Versions differ in how they say so: `success` is a truth value, `status` a word.
    is_success: bool,
    reason: Option<String>,
    counts: Option<Counts>,
}

impl Line {
    fn read(line: &[u8]) -> Result<Self> {
        let mut read = Self {
            kind: String::new(),
            role: String::new(),
            content: None,
            is_delta: false,
            is_success: true,
            reason: None,
            counts: None,
        };
        let mut reader = Reader::from_slice(line)?;
        reader.object(|key, reader| read.member(&key, reader))?;
        reader.finish()?;
        Ok(read)
    }

    /// A member of another kind than expected means nothing.
    fn member(&mut self, key: &str, reader: &mut Reader<'_>) -> Result<()> {
        match (key, reader.kind()?) {
            ("type", Kind::String) => self.kind = string(reader)?,
            ("role", Kind::String) => self.role = string(reader)?,
            ("content", Kind::String) => self.content = Some(string(reader)?),
            ("delta", Kind::Boolean) => self.is_delta = reader.boolean()?,
            ("success", Kind::Boolean) => self.is_success &= reader.boolean()?,
            ("status", Kind::String) => self.is_success &= string(reader)? == "success",
            ("message" | "error", Kind::String) => self.reason = Some(string(reader)?),
            ("error", Kind::Object) => reader.object(|key, reader| match &*key {
                "message" => self.member("message", reader),
                _ => reader.skip(),
            })?,
            ("stats", Kind::Object) => self.counts = Some(counts(reader)?),
            _ => reader.skip()?,
        }
        Ok(())
    }
}

fn counts(reader: &mut Reader<'_>) -> Result<Counts> {
    let mut counts = Counts::default();
    reader.object(|key, reader| {
        let count = match (&*key, reader.kind()?) {
            ("input_tokens", Kind::Number) => Count::Input,
            ("output_tokens", Kind::Number) => Count::Output,
            ("total_tokens", Kind::Number) => Count::Total,
            ("cached", Kind::Number) => Count::CacheRead,
            _ => return reader.skip(),
        };
        counts[count] = reader.number()?.as_u64();
        Ok(())
    })?;
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> (String, Step) {
        let mut reading = Reading::default();
        let mut text = String::new();
        for line in lines {
            match reading.line(line.as_bytes()) {
                Step::Nothing => {}
                Step::Text(more) => text += &more,
                ending => return (text + &reading.finish(), ending),
            }
        }
        (text + &reading.finish(), Step::Nothing)
    }

    #[track_caller]
    fn check(lines: &[&str], expected: &str) {
        let (text, ending) = read(lines);
        assert_eq!(text, expected);
        assert!(matches!(ending, Step::Success(_)), "{ending:?}");
    }

    const SUCCESS: &str = r#"{"type":"result","success":true}"#;

    #[test]
    fn only_the_assistants_text_is_kept() {
        let lines = [
            r#"{"type":"message","role":"user","content":"Instructions:\nYou are Carol..."}"#,
            r#"{"type":"message","role":"assistant","content":"我理解了任务需求...","delta":true}"#,
            SUCCESS,
        ];
        check(&lines, "我理解了任务需求...");
    }

    #[test]
    fn deltas_are_joined_without_a_break() {
        let lines = [
            r#"{"type":"message","role":"assistant","content":"Part 1","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":" Part 2","delta":true}"#,
            r#"{"type":"result","status":"success","stats":{"total_tokens":3}}"#,
        ];
        check(&lines, "Part 1 Part 2");
    }

    #[test]
    fn separate_messages_stand_on_lines_of_their_own() {
        let whole = r#"{"type":"message","role":"assistant","content":"One"}"#;
        let delta = r#"{"type":"message","role":"assistant","content":"two","delta":true}"#;
        let tool = r#"{"type":"tool_use","tool_name":"read_file","tool_id":"1","parameters":{}}"#;
        check(&[whole, whole, SUCCESS], "One\nOne");
        check(&[whole, delta, delta, whole, SUCCESS], "One\ntwotwo\nOne");
        check(&[delta, tool, delta, SUCCESS], "two\ntwo");
        check(&[tool, delta, SUCCESS], "two");
    }

    #[test]
    fn terminal_sequences_are_removed_even_across_deltas() {
        let lines = [
            r#"{"type":"message","role":"assistant","content":"\u001b[3","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":"1mred\u001b[0m","delta":true}"#,
            SUCCESS,
        ];
        check(&lines, "red");
    }

    #[test]
    fn what_is_not_understood_is_passed_over() {
        let lines = [
            "Loaded cached credentials.",
            "",
            "[1]",
            r#"{"type":"init","session_id":"1","model":"m"}"#,
            r#"{"type":"message","role":"assistant","content":["no","string"]}"#,
            r#"{"type":"message","role":"assistant","content":"Hi"}"#,
            r#"{"type":"weather","content":"rain"}"#,
            r#"{"type":"message","role":"assistant","con"#,
            SUCCESS,
        ];
        check(&lines, "Hi");
    }

    #[test]
    fn a_result_that_is_no_success_is_a_failure() {
        let ending = |lines: &[&str]| read(lines).1;
        let reason = |text: &str| Step::Failure(Some(text.to_owned()));
        let status =
            r#"{"type":"result","status":"error","error":{"type":"Fatal","message":"quota"}}"#;
        assert_eq!(ending(&[status]), reason("quota"));
        let stated = r#"{"type":"error","severity":"error","message":"loop detected"}"#;
        let bare = r#"{"type":"result","success":false}"#;
        assert_eq!(ending(&[stated, bare]), reason("loop detected"));
        assert_eq!(ending(&[bare]), Step::Failure(None));
        assert_eq!(ending(&[stated, SUCCESS]), Step::Success(None));
    }

    #[test]
    fn a_result_says_what_it_cost() {
        let line = r#"{"type":"result","status":"success","stats":{"total_tokens":9,"input_tokens":7,"output_tokens":2}}"#;
        let Step::Success(Some(counts)) = read(&[line]).1 else { panic!("no counts") };
        let found = [Count::Input, Count::Output, Count::Total].map(|count| counts[count]);
        assert_eq!(found, [Some(7), Some(2), Some(9)]);
    }
}
