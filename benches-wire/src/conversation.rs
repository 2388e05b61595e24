//! One conversation with tools, of any length and the same in every run; the protocols' shapes are made from it.

/// A conversation that a coding assistant could have had.
#[derive(Debug)]
pub struct Conversation {
    pub system: String,
    pub tools: Vec<Tool>,
    pub turns: Vec<Turn>,
}

/// A tool that the model may call.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    /// JSON text.
    pub parameters: &'static str,
}

#[derive(Debug)]
pub enum Turn {
    User(String),
    Assistant { text: String, call: Option<Call> },
    Result(ToolOutput),
}

#[derive(Clone, Debug)]
pub struct Call {
    pub id: String,
    pub name: &'static str,
    /// JSON text of an object.
    pub arguments: String,
}

#[derive(Debug)]
pub struct ToolOutput {
    pub call_id: String,
    pub name: &'static str,
    pub output: String,
}

impl Conversation {
    /// The same conversation with tools whose schemas not every protocol takes.
    pub fn with_rich_schemas(bytes: usize) -> Self {
        let mut conversation = Self::of(bytes);
        let rich = RICH_PARAMETERS.iter().cycle();
        for (tool, parameters) in conversation.tools.iter_mut().zip(rich) {
            tool.parameters = parameters;
        }
        conversation
    }

    /// A conversation of about `bytes` bytes on the wire.
    pub fn of(bytes: usize) -> Self {
        let mut words = Words::new(bytes as u64);
        let is_short = bytes < SHORT_BYTES;
        let tools = if is_short { &TOOLS[..1] } else { TOOLS };
        let system = if is_short { SYSTEM[..90].to_owned() } else { system(bytes / 20) };
        let mut conversation = Self { system, tools: tools.to_vec(), turns: Vec::new() };
        let mut round = 0;
        while conversation.wire_bytes() < bytes {
            let output_bytes = if is_short { 100 } else { words.between(300, 3_000) };
            conversation.add_round(round, output_bytes, &mut words);
            round += 1;
        }
        conversation.turns.push(Turn::User("Thank you. What is left to do?".to_owned()));
        conversation
    }

    /// A conversation of so many rounds, each a question, a call, its result of about `output_bytes` and an answer: four
    /// messages in every protocol, and one more at the end.
    pub fn of_rounds(rounds: usize, output_bytes: usize) -> Self {
        let mut words = Words::new(rounds as u64);
        let mut conversation =
            Self { system: system(2_000), tools: TOOLS.to_vec(), turns: Vec::new() };
        for round in 0..rounds {
            conversation.turns.push(Turn::User(words.prose(output_bytes / 5)));
            conversation.add_call(round, output_bytes, &mut words);
            let text = words.prose(output_bytes / 4);
            conversation.turns.push(Turn::Assistant { text, call: None });
        }
        conversation.turns.push(Turn::User("Thank you. What is left to do?".to_owned()));
        conversation
    }

    /// One request, a call, its result and a closing word.
    fn add_round(&mut self, round: usize, output_bytes: usize, words: &mut Words) {
        if round.is_multiple_of(3) {
            self.turns.push(Turn::User(words.prose(output_bytes / 8 + 60)));
        }
        self.add_call(round, output_bytes, words);
        if round % 3 == 2 {
            self.turns
                .push(Turn::Assistant { text: words.prose(output_bytes / 4 + 40), call: None });
        }
    }

    /// A call and its result.
    fn add_call(&mut self, round: usize, output_bytes: usize, words: &mut Words) {
        let name = self.tools[round % self.tools.len()].name;
        let call = Call {
            id: format!("call_{round:06}{:012x}", words.next()),
            name,
            arguments: words.arguments(name, output_bytes / 5),
        };
        let answer = ToolOutput { call_id: call.id.clone(), name, output: words.code(output_bytes) };
        self.turns.push(Turn::Assistant { text: words.prose(80), call: Some(call) });
        self.turns.push(Turn::Result(answer));
    }

    /// The size of the content with what a protocol puts around it, roughly.
    fn wire_bytes(&self) -> usize {
        let tools: usize =
            self.tools.iter().map(|tool| tool.description.len() + tool.parameters.len() + 80).sum();
        let turns: usize = self.turns.iter().map(Turn::wire_bytes).sum();
        self.system.len() + tools + turns
    }
}

impl Turn {
    fn wire_bytes(&self) -> usize {
        match self {
            Self::User(text) => text.len() + 40,
            Self::Assistant { text, call } => {
                let call = call.as_ref().map_or(0, |call| call.arguments.len() * 9 / 8 + 120);
                text.len() + 50 + call
            }
            Self::Result(answer) => answer.output.len() * 19 / 18 + 80,
        }
    }
}

/// Below this size a conversation has one tool and one round.
const SHORT_BYTES: usize = 4_000;

const SYSTEM: &str = "You are a careful assistant in a repository of code. Read before you write, and change as little as \
    is needed. Say what you did in one sentence, and quote \"error messages\" word for word.\n\n# Rules\n\
    - Run the tests before you answer.\n- Never touch files outside the working folder.\n\
    - Use tabs only where the file already does; naïve reformatting is not wanted – ask first.\n";

fn system(bytes: usize) -> String {
    SYSTEM.repeat(bytes / SYSTEM.len() + 1)
}

/// Schemas as generators write them: with their draft, definitions, constants, defaults and limits.
const RICH_PARAMETERS: [&str; 2] = [
    r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"path":{"type":"string","minLength":1,"default":"."},"range":{"$ref":"#/$defs/Range"},"mode":{"const":"text"}},"required":["path"],"additionalProperties":false,"$defs":{"Range":{"type":"object","properties":{"first":{"type":"integer","minimum":1},"last":{"type":["integer","null"]}},"required":["first"],"additionalProperties":false}}}"##,
    r##"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"edits":{"type":"array","minItems":1,"items":{"oneOf":[{"type":"object","properties":{"kind":{"const":"insert"},"line":{"type":"integer","exclusiveMinimum":0},"text":{"type":"string"}},"required":["kind","line","text"]},{"type":"object","properties":{"kind":{"const":"delete"},"line":{"type":"integer","exclusiveMinimum":0}},"required":["kind","line"]}]}},"dry_run":{"type":"boolean","default":false}},"required":["edits"],"additionalProperties":false}"##,
];

/// Tools whose schemas every protocol takes as they are.
const TOOLS: &[Tool] = &[
    Tool {
        name: "read_file",
        description: "Reads a file of the working folder.",
        parameters: r#"{"type":"object","properties":{"path":{"type":"string","description":"Path from the top folder"},"limit":{"type":"integer"}},"required":["path"]}"#,
    },
    Tool {
        name: "write_file",
        description: "Writes a file of the working folder, and makes it if there is none.",
        parameters: r#"{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string","description":"The whole new content"}},"required":["path","content"]}"#,
    },
    Tool {
        name: "run_command",
        description: "Runs a command in a shell and returns what it prints, both on standard output and on standard error.",
        parameters: r#"{"type":"object","properties":{"command":{"type":"string"},"timeout_ms":{"type":"integer"},"environment":{"type":"array","items":{"type":"string"}}},"required":["command"]}"#,
    },
    Tool {
        name: "search",
        description: "Finds lines that match a pattern.",
        parameters: r#"{"type":"object","properties":{"pattern":{"type":"string"},"folder":{"type":"string"},"order":{"type":"string","enum":["path","newest"]}},"required":["pattern"]}"#,
    },
];

/// Repeatable text: a small generator of numbers, and sentences picked by them.
struct Words(u64);

impl Words {
    fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// The next number of 48 bits.
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 16
    }

    fn between(&mut self, least: usize, most: usize) -> usize {
        least + usize::try_from(self.next() >> 8).unwrap_or_default() % (most - least)
    }

    fn pick<'s>(&mut self, among: &[&'s str]) -> &'s str {
        among[self.between(0, among.len())]
    }

    fn prose(&mut self, bytes: usize) -> String {
        self.fill(bytes, PROSE)
    }

    fn code(&mut self, bytes: usize) -> String {
        self.fill(bytes, CODE)
    }

    fn fill(&mut self, bytes: usize, lines: &[&str]) -> String {
        let mut text = String::with_capacity(bytes + 80);
        while text.len() < bytes {
            text.push_str(self.pick(lines));
        }
        text
    }

    /// Arguments that fit the tool, as a model would spell them.
    fn arguments(&mut self, tool: &str, bytes: usize) -> String {
        let folder = self.pick(&["src", "tests", "docs/guide", "crates/core/src"]);
        match tool {
            "read_file" => format!(r#"{{"path":"{folder}/main.rs","limit":400}}"#),
            "write_file" => {
                let content = serde_json::Value::from(self.code(bytes));
                format!(r#"{{"path":"{folder}/lib.rs","content":{content}}}"#)
            }
            "run_command" => {
                format!(
                    r#"{{"command":"cargo test --quiet 2>&1 | grep \"{folder}\"","timeout_ms":60000,"environment":[]}}"#
                )
            }
            _ => format!(r#"{{"pattern":"fn \\w+_{folder}","folder":"{folder}","order":"path"}}"#),
        }
    }
}

const PROSE: &[&str] = &[
    "The parser drops the last line when the file does not end with a line feed. ",
    "I will look at the function that reads a chunk and at the test that covers it.\n",
    "It says \"unexpected end of input\", which cannot be right: the fixture is complete. ",
    "Please keep the public names as they are – others build on them. ",
    "Die Prüfung läuft jetzt durch; größere Änderungen waren nicht nötig. ",
    "次に、残りのテストを確認します。",
    "That took 12 ms instead of 340 ms.\n\n",
];

const CODE: &[&str] = &[
    "use std::collections::BTreeMap;\n",
    "fn read_chunk(source: &mut impl Read, limit: usize) -> io::Result<Vec<u8>> {\n",
    "    let mut chunk = Vec::with_capacity(limit);\n",
    "    if limit == 0 {\n        return chunk;\n    }\n",
    "    println!(\"read {} bytes\", chunk.len());\n",
    "    Ok(chunk)\n}\n\n",
    "\tassert_eq!(name, \"first\", \"the first line\");\n",
    "test parser::tests::a_line_without_an_end_is_kept ... ok\n",
    "warning: unused variable: `größe` → remove it\n",
    "  \"scripts\": { \"test\": \"node --test\" },\n",
    "src/parser.rs:118:        // A border between chunks may cut a character in half.\n",
    "        Some(line) => lines.push(line.trim_end().to_owned()),\n        None => break,\n",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_size_gives_the_same_conversation() {
        assert_eq!(
            format!("{:?}", Conversation::of(20_000)),
            format!("{:?}", Conversation::of(20_000))
        );
    }

    #[test]
    fn arguments_and_schemas_are_json() {
        let conversation = Conversation::of(50_000);
        for turn in &conversation.turns {
            if let Turn::Assistant { call: Some(call), .. } = turn {
                serde_json::from_str::<serde_json::Value>(&call.arguments).unwrap();
            }
        }
        for parameters in TOOLS.iter().map(|tool| tool.parameters).chain(RICH_PARAMETERS) {
            serde_json::from_str::<serde_json::Value>(parameters).unwrap();
        }
    }

    #[test]
    fn results_have_as_many_escapes_as_source_code() {
        let code = serde_json::Value::from(Words::new(1).code(100_000)).to_string();
        let bytes_per_escape = code.len() / code.matches('\\').count();
        assert!((22..=26).contains(&bytes_per_escape), "{bytes_per_escape}");
    }
}
