//! What Gemini CLI prints in its streaming JSON format, an object a line.
//!
//! The prompt comes back as a message of the user and is not part of the answer. A line that is no object, or of a type
//! that is not known, is passed over.

use std::fmt;

use sabir_wire::Result;
use sabir_wire::json::{Kind, Reader};

use super::ansi;

/// The answer, as far as it was read.
#[derive(Default)]
pub struct Output {
    text: String,
    piece: Piece,
    ending: Option<Ending>,
    /// The last error that was reported, which explains a failure that says nothing itself.
    complaint: Option<String>,
    skipped_lines: usize,
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

enum Ending {
    Success,
    Failure(Option<String>),
}

/// What the agent answered.
#[derive(Clone, PartialEq, Eq)]
pub struct AgentReply {
    pub text: String,
    /// Lines that were no JSON objects: warnings of the runtime, say.
    pub skipped_lines: usize,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The agent says that it failed, with its own words where it has any.
    Reported(Option<String>),
    /// The output ends without a result.
    Truncated,
}

impl Output {
    /// Takes one line, with or without its end.
    pub fn line(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match Line::read(line) {
            Ok(line) => self.take(line),
            Err(_) => self.skipped_lines += 1,
        }
    }

    /// The answer, when no more lines come.
    pub fn finish(self) -> std::result::Result<AgentReply, Failed> {
        match self.ending {
            Some(Ending::Success) => Ok(AgentReply {
                text: ansi::strip(&self.text).into_owned(),
                skipped_lines: self.skipped_lines,
            }),
            Some(Ending::Failure(reason)) => Err(Failed::Reported(reason.or(self.complaint))),
            None => Err(Failed::Truncated),
        }
    }

    fn take(&mut self, line: Line) {
        match line.kind.as_str() {
            "message" if line.role == "assistant" => self.message(&line),
            // What follows a tool's work is a message of its own.
            "tool_use" | "tool_result" if self.piece == Piece::Delta => self.piece = Piece::Whole,
            "error" => self.complaint = line.reason,
            "result" if line.is_success => self.ending = Some(Ending::Success),
            "result" => self.ending = Some(Ending::Failure(line.reason)),
            _ => {}
        }
    }

    /// Deltas are joined as they are; a line break stands only between messages.
    fn message(&mut self, line: &Line) {
        let Some(content) = &line.content else { return };
        let piece = if line.is_delta { Piece::Delta } else { Piece::Whole };
        let goes_on = self.piece == Piece::Delta && piece == Piece::Delta;
        if self.piece != Piece::None && !goes_on {
            self.text.push('\n');
        }
        self.text.push_str(content);
        self.piece = piece;
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
            _ => reader.skip()?,
        }
        Ok(())
    }
}

fn string(reader: &mut Reader<'_>) -> Result<String> {
    Ok(reader.string()?.into_str().into_owned())
}

/// Says how much there is, never what.
impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("text", &self.text.len())
            .field("is_ended", &self.ending.is_some())
            .field("skipped_lines", &self.skipped_lines)
            .finish()
    }
}

/// Says how much there is, never what.
impl fmt::Debug for AgentReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AgentReply({} bytes, {} lines skipped)", self.text.len(), self.skipped_lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> std::result::Result<AgentReply, Failed> {
        let mut output = Output::default();
        lines.iter().for_each(|line| output.line(line.as_bytes()));
        output.finish()
    }

    #[track_caller]
    fn check(lines: &[&str], expected: &str) {
        assert_eq!(read(lines).map(|answer| answer.text).as_deref(), Ok(expected));
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
        assert_eq!(read(&lines).map(|answer| answer.skipped_lines), Ok(3));
    }

    #[test]
    fn a_result_that_is_no_success_is_a_failure() {
        let reason = |text: &str| Err(Failed::Reported(Some(text.to_owned())));
        let status =
            r#"{"type":"result","status":"error","error":{"type":"Fatal","message":"quota"}}"#;
        assert_eq!(read(&[status]), reason("quota"));
        let stated = r#"{"type":"error","severity":"error","message":"loop detected"}"#;
        let bare = r#"{"type":"result","success":false}"#;
        assert_eq!(read(&[stated, bare]), reason("loop detected"));
        assert_eq!(read(&[bare]), Err(Failed::Reported(None)));
        assert!(read(&[stated, SUCCESS]).is_ok());
    }

    #[test]
    fn an_output_without_a_result_is_truncated() {
        let hi = r#"{"type":"message","role":"assistant","content":"Hi"}"#;
        assert_eq!(read(&[hi]), Err(Failed::Truncated));
        assert_eq!(read(&[]), Err(Failed::Truncated));
    }

    #[test]
    fn debug_output_holds_no_content() {
        let mut output = Output::default();
        output.line(br#"{"type":"message","role":"assistant","content":"secret"}"#);
        output.line(SUCCESS.as_bytes());
        let shown = format!("{output:?}") + &format!("{:?}", output.finish());
        assert!(!shown.contains("secret"), "{shown}");
    }
}
