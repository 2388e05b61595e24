//! Long inputs: every list and map of every protocol, with as many elements as wanted. Whoever translates one of n and
//! one of 2n elements sees whether the work grows with the input or with its square.
//!
//! An input is a row of a table: a name and a template. In a template `<<…>>` stands n times with commas between, and
//! `§` is the number of the repetition. In a stream each line is a frame; lines that begin with `* ` stand n times, all
//! that follow one another together, and a line `--` parts two such groups.

mod anthropic_messages;
mod error;
mod gemini;
mod openai_chat;
mod openai_responses;
mod schema;

use sabir_wire::Protocol;

/// A name and a template.
type Row = (&'static str, &'static str);

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Request,
    Response,
    Stream,
    Error,
}

/// An input of any length.
#[derive(Clone, Debug)]
pub struct Long {
    pub protocol: Protocol,
    pub kind: Kind,
    pub name: &'static str,
    template: String,
}

impl Long {
    /// All inputs of a protocol.
    pub fn all(protocol: Protocol) -> Vec<Self> {
        let tables = Tables::of(protocol);
        let requests =
            tables.requests.iter().map(|row| (Kind::Request, row.0, tables.request(row.1)));
        let schemas = schema::ROWS.iter().map(|row| {
            let declaration = tables.tool.replace("SCHEMA", row.1);
            (Kind::Request, row.0, tables.request(&declaration))
        });
        let outputs = schema::ROWS.iter().map(|row| {
            let declaration = tables.output.replace("SCHEMA", row.1);
            (Kind::Request, row.0, tables.request(&declaration))
        });
        let responses =
            tables.responses.iter().map(|row| (Kind::Response, row.0, row.1.to_owned()));
        let streams = tables.streams.iter().map(|row| (Kind::Stream, row.0, row.1.to_owned()));
        let errors = error::ROWS.iter().map(|row| (Kind::Error, row.0, row.1.to_owned()));
        let all =
            requests.chain(schemas).chain(outputs).chain(responses).chain(streams).chain(errors);
        all.map(|(kind, name, template)| Self { protocol, kind, name, template }).collect()
    }

    /// The input with `n` elements.
    pub fn of(&self, n: usize) -> String {
        match self.kind {
            Kind::Request | Kind::Response | Kind::Error => repeated(&self.template, n),
            Kind::Stream => stream(&self.template, n),
        }
    }
}

/// The inputs of one protocol.
struct Tables {
    /// Fields of a request.
    requests: &'static [Row],
    /// What a request has that says nothing of it: its name, and a list with a message of the user.
    minimal: (&'static str, &'static str),
    /// The fields of a request with a tool and with an output whose schema is `SCHEMA`.
    tool: &'static str,
    output: &'static str,
    responses: &'static [Row],
    streams: &'static [Row],
}

impl Tables {
    fn of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::OpenaiChat => openai_chat::TABLES,
            Protocol::OpenaiResponses => openai_responses::TABLES,
            Protocol::AnthropicMessages => anthropic_messages::TABLES,
            Protocol::Gemini => gemini::TABLES,
        }
    }

    /// A request with these fields, and with the user's message if they have none.
    fn request(&self, fields: &str) -> String {
        let (key, value) = self.minimal;
        match fields.contains(key) {
            true => format!("{{{fields}}}"),
            false => format!("{{{key}:{value},{fields}}}"),
        }
    }
}

/// The text with every `<<…>>` in it `n` times.
fn repeated(template: &str, n: usize) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once("<<") {
        let (element, after) = behind.split_once(">>").expect("a list in a template ends");
        text.push_str(before);
        for number in 0..n {
            if number > 0 {
                text.push(',');
            }
            text.push_str(&element.replace('§', &number.to_string()));
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

/// The frames of a stream.
fn stream(template: &str, n: usize) -> String {
    let mut text = String::new();
    let mut group: Vec<&str> = Vec::new();
    for line in template.trim().lines().map(str::trim_start).chain(["--"]) {
        match line.strip_prefix("* ") {
            Some(line) => group.push(line),
            None => {
                for number in (0..n).filter(|_| !group.is_empty()) {
                    group.iter().for_each(|line| frame(line, number, &mut text));
                }
                group.clear();
                if line != "--" {
                    text.push_str(&format!("data: {}\n\n", repeated(line, n)));
                }
            }
        }
    }
    text
}

/// A frame of a group that stands n times.
fn frame(line: &str, number: usize, text: &mut String) {
    text.push_str("data: ");
    text.push_str(&line.replace('§', &number.to_string()));
    text.push_str("\n\n");
}
