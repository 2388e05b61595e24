//! Programs that play agent CLIs, and providers that say the same: as many deltas at the same pace, each in a write of its own. What a CLI
//! prints are lines that the real ones printed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

use anyhow::{Context, Result, bail};

/// Recorded answers, of which the lines around the deltas are taken, and one delta.
const CLAUDE: &str =
    include_str!("../../crates/backend/src/agent/tests/recorded/claude-call.jsonl");
const CODEX: &str = include_str!("../../crates/backend/src/agent/tests/recorded/codex-text.jsonl");
const GEMINI: &str =
    include_str!("../../crates/backend/src/agent/tests/recorded/gemini-text.jsonl");
const GEMINI_RECORD: &str =
    include_str!("../../crates/backend/src/agent/tests/recorded/gemini-text-record.jsonl");

/// What the deltas say, over and over.
const PIECES: [&str; 8] =
    ["The", " parser", " drops the last", " line", ". ", " größer", "、次に", " so"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cli {
    Claude,
    Codex,
    Gemini,
}

/// How much is stated, and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Score {
    pub(crate) deltas: usize,
    /// The time between two deltas.
    pub(crate) pace: Duration,
}

impl Cli {
    pub(crate) const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    fn parse(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|it| it.as_str() == name);
        found.with_context(|| format!("no agent is called {name}"))
    }
}

impl Score {
    fn parse(deltas: &str, micros: &str) -> Result<Self> {
        Ok(Self { deltas: deltas.parse()?, pace: Duration::from_micros(micros.parse()?) })
    }

    fn texts(self) -> impl Iterator<Item = &'static str> {
        PIECES.iter().copied().cycle().take(self.deltas)
    }

    /// Writes each of them when its time has come.
    fn write(self, out: &mut impl Write, deltas: impl Iterator<Item = String>) -> io::Result<()> {
        let began = Instant::now();
        for (delta, number) in deltas.zip(1..) {
            if !self.pace.is_zero() {
                let due = began + self.pace * number;
                thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            out.write_all(delta.as_bytes())?;
        }
        Ok(())
    }
}

/// Plays a CLI on this process's own pipes: `CLI DELTAS MICROSECONDS`, and what the gateway adds.
pub(crate) fn play(arguments: &[String]) -> Result<()> {
    let [cli, deltas, pace, ..] = arguments else { bail!("play CLI DELTAS MICROSECONDS") };
    let (cli, score) = (Cli::parse(cli)?, Score::parse(deltas, pace)?);
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        match cli {
            Cli::Claude => claude(&line, score, &mut out)?,
            Cli::Codex => codex(&line, score, &mut out)?,
            Cli::Gemini => gemini(&line, score, &mut out)?,
        }
    }
    Ok(())
}

fn claude(line: &str, score: Score, out: &mut impl Write) -> io::Result<()> {
    if line.contains("\"subtype\":\"initialize\"") {
        let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"1","response":{}}}"#;
        return writeln!(out, "{answer}");
    }
    if !line.starts_with("{\"type\":\"user\"") {
        return Ok(());
    }
    out.write_all(before(CLAUDE, "content_block_start").as_bytes())?;
    writeln!(out, "{}", claude_line("content_block_start"))?;
    let delta = claude_line("content_block_delta");
    score.write(out, score.texts().map(|text| filled(&delta, text)))?;
    for kind in ["content_block_stop", "message_delta", "message_stop"] {
        writeln!(out, "{}", claude_line(kind))?;
    }
    Ok(())
}

/// A recorded line with an event, which is about text instead of a thought.
fn claude_line(kind: &str) -> String {
    let line = found(CLAUDE, &format!("\"event\":{{\"type\":\"{kind}\""));
    line.replace(r#""thinking_delta","thinking":"The ""#, r#""text_delta","text":"@""#)
        .replace(
            r#"{"type":"thinking","thinking":"","signature":""}"#,
            r#"{"type":"text","text":""}"#,
        )
        .replace("\"tool_use\"", "\"end_turn\"")
}

fn codex(line: &str, score: Score, out: &mut impl Write) -> io::Result<()> {
    let answers = [
        ("initialize", r#"{"id":1,"result":{"userAgent":"sabir/0.0.2 (Linux)"}}"#),
        ("thread/start", r#"{"id":2,"result":{"thread":{"id":"T"},"model":"m"}}"#),
        ("thread/inject_items", r#"{"id":3,"result":{}}"#),
        ("turn/start", r#"{"id":4,"result":{"turn":{"id":"U","status":"inProgress"}}}"#),
    ];
    for (method, answer) in answers {
        if line.contains(&format!("\"method\":\"{method}\"")) {
            writeln!(out, "{answer}")?;
        }
    }
    if !line.contains("\"method\":\"turn/start\"") {
        return Ok(());
    }
    out.write_all(before(CODEX, "\"item/started\"").as_bytes())?;
    writeln!(out, "{}", found(CODEX, r#""item/started","params":{"item":{"type":"agentMessage""#))?;
    let delta = found(CODEX, "item/agentMessage/delta").replace("\"This \"", "\"@\"");
    score.write(out, score.texts().map(|text| filled(&delta, text)))?;
    let end = CODEX.split_once(
        "\n{\"method\":\"item/completed\",\"params\":{\"item\":{\"type\":\"agentMessage\"",
    );
    let (_, end) = end.expect("the record ends so");
    let stated = "This is Sabir's openai-responses simulator, answering as `gpt-5.6`. You stated: \\\"hello there\\\".";
    let whole: String = score.texts().collect();
    let end = end.replace(stated, &whole);
    writeln!(
        out,
        "{{\"method\":\"item/completed\",\"params\":{{\"item\":{{\"type\":\"agentMessage\"{}",
        end.trim_end()
    )
}

fn gemini(line: &str, score: Score, out: &mut impl Write) -> io::Result<()> {
    let id = line.split_once("\"id\":").map_or("", |(_, rest)| rest);
    let id = id.split([',', '}']).next().unwrap_or_default();
    let has = |method: &str| line.contains(&format!("\"method\":\"{method}\""));
    if has("initialize") {
        return writeln!(
            out,
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":1,"agentInfo":{{"version":"0.0.3"}},"agentCapabilities":{{"loadSession":true}}}}}}"#
        );
    }
    if has("session/new") {
        return writeln!(
            out,
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"sessionId":"abcdef01-0000"}}}}"#
        );
    }
    if !has("session/prompt") {
        return Ok(());
    }
    let delta = found(GEMINI, "agent_message_chunk").replace("\"This \"", "\"@\"");
    let delta = delta.replace("@S", "abcdef01-0000");
    score.write(out, score.texts().map(|text| filled(&delta, text)))?;
    gemini_record(score)?;
    writeln!(out, "{}", found(GEMINI, "stopReason").replace("@P", id))
}

/// The CLI keeps a record of its answers, which the gateway reads.
fn gemini_record(score: Score) -> io::Result<()> {
    let home = PathBuf::from(env::var_os("GEMINI_CLI_HOME").unwrap_or_default());
    let chats = home.join(".gemini/tmp/work/chats");
    fs::create_dir_all(&chats)?;
    let whole: String = score.texts().collect();
    let stated = "This is Sabir's gemini simulator";
    fs::write(chats.join("session-1-abcdef01.jsonl"), GEMINI_RECORD.replace(stated, &whole))
}

/// The lines of a record before the first that has a word.
fn before(record: &'static str, word: &str) -> String {
    let lines = record.lines().take_while(|line| !line.contains(word));
    lines.map(|line| format!("{line}\n")).collect()
}

fn found(record: &'static str, word: &str) -> String {
    record.lines().find(|line| line.contains(word)).expect("the records hold it").to_owned()
}

fn filled(line: &str, text: &str) -> String {
    line.replacen('@', text, 1) + "\n"
}

/// A provider for each CLI: the path says which, and how much it says how fast. It ends with this process.
pub(crate) fn provide() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    Ok(address)
}

/// The path below which a provider answers so.
pub(crate) fn path(cli: Cli, score: Score) -> String {
    format!("/{}/{}/{}", cli.as_str(), score.deltas, score.pace.as_micros())
}

const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

fn serve(mut stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some((cli, score)) = read_request(&mut reader)? {
        stream.write_all(HEAD)?;
        let (begin, end) = around(cli, score);
        for frame in begin {
            stream.write_all(chunk(&frame).as_bytes())?;
        }
        score.write(&mut stream, score.texts().map(|text| chunk(&delta(cli, text))))?;
        for frame in end {
            stream.write_all(chunk(&frame).as_bytes())?;
        }
        stream.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}

fn read_request(reader: &mut impl BufRead) -> Result<Option<(Cli, Score)>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
    io::copy(&mut reader.take(length), &mut io::sink())?;
    let mut segments = first.split('/').skip(1);
    let mut segment = || segments.next().context("the path is too short");
    Ok(Some((Cli::parse(segment()?)?, Score::parse(segment()?, segment()?)?)))
}

fn chunk(frame: &str) -> String {
    format!("{:x}\r\n{frame}\r\n", frame.len())
}

/// The frames before and behind the deltas, as the model behind the CLI sends them.
fn around(cli: Cli, score: Score) -> (Vec<String>, Vec<String>) {
    let whole: String = score.texts().collect();
    match cli {
        Cli::Claude => {
            let frames = |kinds: &[&str]| kinds.iter().map(|kind| claude_frame(kind)).collect();
            let begin = frames(&["message_start", "content_block_start"]);
            (begin, frames(&["content_block_stop", "message_delta", "message_stop"]))
        }
        Cli::Codex => {
            let part = |text: &str| {
                format!(
                    r#"{{"type":"output_text","text":"{text}","annotations":[],"logprobs":[]}}"#
                )
            };
            let item = |status: &str, content: &str| {
                format!(
                    r#"{{"type":"message","status":"{status}","id":"msg_1","role":"assistant","content":[{content}]}}"#
                )
            };
            let response = |status: &str, rest: &str| {
                format!(
                    r#""response":{{"id":"resp_1","object":"response","created_at":1790000000,"model":"gpt-5.6","status":"{status}"{rest}}}"#
                )
            };
            let usage = r#""usage":{"input_tokens":16,"input_tokens_details":{"cached_tokens":0},"output_tokens":35,"output_tokens_details":{"reasoning_tokens":12},"total_tokens":51}"#;
            let output = format!(r#","output":[{}],{usage}"#, item("completed", &part(&whole)));
            let place = r#""item_id":"msg_1","output_index":0,"content_index":0"#;
            let begin = vec![
                codex_frame("response.created", &response("in_progress", "")),
                codex_frame(
                    "response.output_item.added",
                    &format!(r#""output_index":0,"item":{}"#, item("in_progress", "")),
                ),
                codex_frame(
                    "response.content_part.added",
                    &format!(r#"{place},"part":{}"#, part("")),
                ),
            ];
            let end = vec![
                codex_frame("response.output_text.done", &format!(r#"{place},"text":"{whole}""#)),
                codex_frame(
                    "response.content_part.done",
                    &format!(r#"{place},"part":{}"#, part(&whole)),
                ),
                codex_frame(
                    "response.output_item.done",
                    &format!(r#""output_index":0,"item":{}"#, item("completed", &part(&whole))),
                ),
                codex_frame("response.completed", &response("completed", &output)),
            ];
            (begin, end)
        }
        Cli::Gemini => (Vec::new(), vec![gemini_frame("", r#","finishReason":"STOP""#)]),
    }
}

fn delta(cli: Cli, text: &str) -> String {
    match cli {
        Cli::Claude => claude_frame("content_block_delta").replacen('@', text, 1),
        Cli::Codex => codex_frame(
            "response.output_text.delta",
            &format!(
                r#""item_id":"msg_1","output_index":0,"content_index":0,"delta":"{text}","logprobs":[],"obfuscation":"k3Jx0aQz""#
            ),
        ),
        Cli::Gemini => gemini_frame(text, ""),
    }
}

/// The same event that the CLI prints.
fn claude_frame(kind: &str) -> String {
    let line = claude_line(kind);
    let (_, event) = line.split_once("\"event\":").expect("it is a line with an event");
    let (event, _) = event.split_once(",\"session_id\"").expect("the session stands behind it");
    format!("event: {kind}\ndata: {event}\n\n")
}

fn codex_frame(kind: &str, members: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\",\"sequence_number\":1,{members}}}\n\n")
}

fn gemini_frame(text: &str, finish: &str) -> String {
    format!(
        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{text}\"}}],\"role\":\"model\"}}{finish},\"index\":0}}],\"usageMetadata\":{{\"promptTokenCount\":119,\"candidatesTokenCount\":23,\"totalTokenCount\":142}},\"modelVersion\":\"gemini-2.5-flash\",\"responseId\":\"aBcDeFgHiJkLmNoPqRsTuV0\"}}\n\n"
    )
}
