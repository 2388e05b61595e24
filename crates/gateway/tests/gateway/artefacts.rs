//! What providers seal with their calls comes back to them from clients that strip it: the strict simulators behind the gateway,
//! clients of every other protocol before it that keep nothing but text, calls and results.

use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpStream};

use sabir_backend::sim;
use sabir_wire::Protocol;
use sabir_wire::conversation::{
    Arguments, CallForm, Content, Message, Part, Request, Response, ResultOutput, Role, ToolResult,
};
use sabir_wire::json::Text;
use sabir_wire::protocol::{DecodedRequest, Fold, StreamDecoder};
use sabir_wire::sse::Parser;
use sabir_wire::target::Target;
use serde_json::{Value, json};

use crate::harness::{PATIENCE, Reply, Running};
use crate::rows::Folder;
use crate::waiting::wait_for;

/// The simulators on a socket of their own, which say what they got.
struct Simulators {
    address: SocketAddr,
}

impl Simulators {
    fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            tokio::task::LocalSet::new().block_on(&runtime.unwrap(), async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                sim::Server::default().serve(listener).await.unwrap();
            });
        });
        Self { address }
    }

    /// All of them as providers, each under the name of its protocol.
    fn toml(&self) -> String {
        let provider = |protocol: Protocol| {
            let (name, base) = (protocol.as_str(), base(protocol));
            format!(
                "\n[[provider]]\nname = \"{name}\"\nprotocol = \"{name}\"\nbase_url = \"http://{}{base}\"\n\
                 api_key = {{ value = \"sk-upstream\" }}\n",
                self.address
            )
        };
        ISSUERS.map(provider).concat()
    }

    fn ask(&self, head: &str, body: &str) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        let request = format!(
            "{head} HTTP/1.1\r\nhost: sim\r\nauthorization: Bearer k\r\nx-api-key: k\r\nx-goog-api-key: k\r\n\
             anthropic-version: 2023-06-01\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        Reply::read(&mut BufReader::new(stream))
    }

    /// The requests that hold a text, in their order.
    fn received(&self, text: &str) -> Vec<Value> {
        let reply = self.ask(&format!("GET /_sim/requests?holds={text}"), "");
        serde_json::from_str::<Vec<Value>>(&reply.body).unwrap()
    }

    /// What the simulator sealed in its answer to a request that it got: it answers the same again.
    fn sealed(&self, request: &Value, protocol: Protocol) -> Vec<String> {
        let path = format!("{}{}", root(protocol), request["path"].as_str().unwrap());
        let reply = self.ask(&format!("POST {path}"), &request["body"].to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        let data = reply.body.lines().filter_map(|line| line.strip_prefix("data: "));
        let events: Vec<Value> = data.filter_map(|it| serde_json::from_str(it).ok()).collect();
        let all = if events.is_empty() {
            seals(&reply.json())
        } else {
            events.iter().flat_map(seals).collect()
        };
        let mut distinct: Vec<String> = Vec::new();
        for seal in all.into_iter().filter(|seal| !seal.is_empty()) {
            if !distinct.contains(&seal) {
                distinct.push(seal);
            }
        }
        distinct
    }
}

const ISSUERS: [Protocol; 3] =
    [Protocol::Gemini, Protocol::AnthropicMessages, Protocol::OpenaiResponses];

fn root(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Gemini => "/gemini",
        Protocol::AnthropicMessages => "/anthropic",
        _ => "/openai",
    }
}

fn base(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Gemini => "/gemini/v1beta",
        Protocol::AnthropicMessages => "/anthropic/v1",
        _ => "/openai/v1",
    }
}

/// A model of each issuer that thinks.
fn model(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Gemini => "gemini/gemini-3-pro-preview",
        Protocol::AnthropicMessages => "anthropic-messages/claude-opus-4-6",
        _ => "openai-responses/gpt-5.2",
    }
}

/// Every signature and ciphertext in a body, in their order.
fn seals(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().flat_map(seals).collect(),
        Value::Object(object) => object
            .iter()
            .flat_map(|(key, value)| match (key.as_str(), value.as_str()) {
                ("signature" | "thoughtSignature" | "encrypted_content", Some(seal)) => {
                    vec![seal.to_owned()]
                }
                _ => seals(value),
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// How an answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Whole,
    Stream,
}

/// A client that keeps nothing but text, calls and results.
struct Talk<'g> {
    gateway: &'g Running,
    client: Protocol,
    issuer: Protocol,
    form: Form,
    /// A header with the key, where one is needed.
    key: &'static str,
    request: Request<'static>,
}

impl<'g> Talk<'g> {
    /// Begins with a question that makes the model think and call two tools.
    fn new(gateway: &'g Running, client: Protocol, issuer: Protocol, words: &str) -> Self {
        let calls = r#"call tide with {"port": "Porto", "n": 1}"#.to_owned()
            + "\n"
            + r#"call tide with {"port": "Lagos", "n": 2}"#;
        let schema = json!({"type": "object", "properties": {"port": {"type": "string"}, "n": {"type": "integer"}}});
        let tool = json!({"type": "function", "function": {"name": "tide", "parameters": schema}});
        let body = json!({"model": model(issuer), "reasoning_effort": "high", "tools": [tool],
            "messages": [{"role": "user", "content": format!("{words}\n{calls}")}]});
        let body = body.to_string();
        let decoded = Protocol::OpenaiChat.decode_request(body.as_bytes()).unwrap();
        let request = decoded.into_request().into_owned();
        Self { gateway, client, issuer, form: Form::Whole, key: "", request }
    }

    fn streamed(mut self) -> Self {
        self.form = Form::Stream;
        self.request.stream = Some(true);
        self
    }

    fn with_key(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    /// Sends the conversation and keeps of the answer what such a client keeps, with a result for every call.
    fn turn(&mut self) {
        let reply = self.send();
        assert_eq!(reply.status, 200, "{:?} on {:?}: {}", self.client, self.issuer, reply.body);
        let answer = self.read(&reply.body);
        let message = answer.candidates.into_iter().next().unwrap().message;
        let kept = message
            .parts
            .into_iter()
            .filter(|part| matches!(part.content(), Content::ToolCall(_) | Content::Text(_)));
        let kept: Vec<Part<'static>> = kept.map(|part| Part::new(part.into_content())).collect();
        let results: Vec<Part<'static>> = kept.iter().filter_map(result).collect();
        self.request.messages.push(Message::new(Role::Assistant, kept));
        for result in results {
            self.request.messages.push(Message::new(Role::Tool, result));
        }
    }

    fn send(&self) -> Reply {
        let target = Target::default();
        let request = DecodedRequest::new(self.client, self.request.clone());
        let body = request.encode(self.client, &target).unwrap().body;
        let verb = if self.form == Form::Stream {
            "streamGenerateContent?alt=sse"
        } else {
            "generateContent"
        };
        let path = match self.client {
            Protocol::OpenaiChat => "/v1/chat/completions".to_owned(),
            Protocol::OpenaiResponses => "/v1/responses".to_owned(),
            Protocol::AnthropicMessages => "/v1/messages".to_owned(),
            _ => format!("/v1beta/models/{}:{verb}", model(self.issuer)),
        };
        self.gateway.request(&format!("POST {path}\r\n{}", self.key), &body)
    }

    fn read(&self, body: &str) -> Response<'static> {
        if self.form == Form::Whole {
            return self.client.decode_response(body.as_bytes()).unwrap().into_owned();
        }
        let (mut fold, mut decoder) = (Fold::default(), Some(StreamDecoder::new(self.client)));
        let mut parser = Parser::with_limit(1 << 20);
        parser
            .push(body.as_bytes(), &mut |frame| {
                let step = decoder.take().unwrap().step(&frame, &mut |event| fold.step(event))?;
                decoder = Some(step);
                Ok(())
            })
            .unwrap();
        decoder.unwrap().end(&mut |event| fold.step(event));
        fold.finish()
    }
}

fn result(part: &Part<'static>) -> Option<Part<'static>> {
    let Content::ToolCall(call) = part.content() else { return None };
    let result = ToolResult {
        call_id: call.id.clone(),
        name: Some(call.name.clone()),
        output: ResultOutput::Parts(Part::text("low").into()),
        is_error: None,
        form: CallForm::Function,
    };
    Some(Part::new(Content::ToolResult(Box::new(result))))
}

/// All pairs of a client and an issuer of another protocol.
fn pairs() -> impl Iterator<Item = (Protocol, Protocol)> {
    let clients = |issuer| Protocol::ALL.into_iter().map(move |client| (client, issuer));
    ISSUERS.into_iter().flat_map(clients).filter(|(client, issuer)| client != issuer)
}

/// What of the sealed came back in the last request with these words, and what was sealed in the answer to the first.
fn returned(sims: &Simulators, words: &str, issuer: Protocol) -> (Vec<String>, Vec<String>) {
    let received = sims.received(words);
    let (first, last) = (received.first().unwrap(), received.last().unwrap());
    assert_eq!(last["status"], 200, "{last}");
    (seals(&last["body"]), sims.sealed(first, issuer))
}

#[test]
fn what_a_client_strips_comes_back_to_its_issuer_byte_for_byte() {
    let sims = Simulators::start();
    let gateway = Running::start(&sims.toml());
    for (number, (client, issuer)) in pairs().enumerate() {
        for form in [Form::Whole, Form::Stream] {
            let words = format!("strip{number}{form:?}");
            let talk = Talk::new(&gateway, client, issuer, &words);
            let mut talk = if form == Form::Stream { talk.streamed() } else { talk };
            talk.turn();
            talk.turn();
            let (back, sealed) = returned(&sims, &words, issuer);
            assert!(!sealed.is_empty(), "{issuer:?} sealed nothing");
            assert_eq!(back, sealed, "{client:?} on {issuer:?}, {form:?}");
        }
    }
}

/// A conversation of a client on one gateway that goes on with another, or with another key.
fn go_on<'g>(mut talk: Talk<'_>, gateway: &'g Running, key: &'static str) -> Talk<'g> {
    let request = std::mem::take(&mut talk.request);
    let Talk { client, issuer, form, .. } = talk;
    Talk { gateway, client, issuer, form, key, request }
}

/// Changes the arguments of all calls.
fn edit(talk: &mut Talk<'_>) {
    let parts = &mut talk.request.messages[1].parts;
    let edited = parts.iter().map(|part| match part.content() {
        Content::ToolCall(call) => {
            let mut call = call.clone();
            call.arguments = Arguments::Text(r#"{"port":"Faro","n":1}"#.into());
            Part::new(Content::ToolCall(call))
        }
        other => Part::new(other.clone()),
    });
    *parts = edited.collect::<Vec<_>>().into();
}

/// Whether anything of the sealed came back.
fn is_any_back(sims: &Simulators, words: &str, issuer: Protocol) -> bool {
    let (back, sealed) = returned(sims, words, issuer);
    assert!(!sealed.is_empty(), "{issuer:?} sealed nothing");
    back.iter().any(|seal| sealed.contains(seal))
}

#[test]
fn an_edited_call_gets_nothing_back() {
    let sims = Simulators::start();
    let gateway = Running::start(&sims.toml());
    for (number, (client, issuer)) in pairs().enumerate() {
        let words = format!("edit{number}x");
        let mut talk = Talk::new(&gateway, client, issuer, &words);
        talk.turn();
        edit(&mut talk);
        talk.turn();
        assert!(!is_any_back(&sims, &words, issuer), "{client:?} on {issuer:?}");
    }
}

const KEYS: &str = "[auth]\nrequired = true\n\
    [[auth.key]]\nname = \"ann\"\nvalue = { value = \"key-of-ann\" }\n\
    [[auth.key]]\nname = \"bob\"\nvalue = { value = \"key-of-bob\" }\n";
const ANN: &str = "x-api-key: key-of-ann\r\n";
const BOB: &str = "x-api-key: key-of-bob\r\n";

#[test]
fn what_one_key_got_is_put_back_for_no_other() {
    let sims = Simulators::start();
    for record in ["off", "stateful"] {
        let toml = format!("{KEYS}\n[store]\nrecord = \"{record}\"\n{}", sims.toml());
        let gateway = Running::start(&toml);
        for issuer in ISSUERS {
            for (name, key) in [("ann", ANN), ("bob", BOB)] {
                let words = format!("{name}{record}{}x", issuer.as_str());
                let talk = Talk::new(&gateway, Protocol::OpenaiChat, issuer, &words);
                let mut talk = talk.with_key(ANN);
                talk.turn();
                go_on(talk, &gateway, key).turn();
                let is_back = is_any_back(&sims, &words, issuer);
                assert_eq!(is_back, key == ANN, "{record}, {issuer:?}, {name}");
            }
        }
    }
}

#[test]
fn another_provider_of_the_same_protocol_never_sees_it() {
    let sims = Simulators::start();
    let other = sims.toml().replace("name = \"", "name = \"other-");
    let gateway = Running::start(&(sims.toml() + &other));
    for issuer in ISSUERS {
        let words = format!("other{}x", issuer.as_str());
        let mut talk = Talk::new(&gateway, Protocol::OpenaiChat, issuer, &words);
        talk.turn();
        talk.request.model = Some(Text::plain(format!("other-{}", model(issuer))));
        talk.turn();
        assert!(!is_any_back(&sims, &words, issuer), "{issuer:?}");
    }
}

#[test]
fn another_node_finds_it_in_the_store_and_goes_on_finding_it() {
    let sims = Simulators::start();
    let folder = Folder::new();
    let toml = sims.toml() + &folder.toml("stateful");
    let (one, two) = (Running::start(&toml), Running::start(&toml));
    for (number, (client, issuer)) in pairs().enumerate() {
        let words = format!("node{number}x");
        let mut talk = Talk::new(&one, client, issuer, &words);
        talk.turn();
        let sealed = sims.sealed(&sims.received(&words)[0], issuer);
        wait_for(|| {
            let is_written = sealed.iter().all(|seal| folder.holds(seal).is_some());
            is_written.then_some(()).ok_or_else(|| "nothing is ever written".to_owned())
        });
        let mut talk = go_on(talk, &two, "");
        talk.turn();
        assert_eq!(
            returned(&sims, &words, issuer),
            (sealed.clone(), sealed.clone()),
            "{client:?} on {issuer:?}"
        );
        // What was put back once is put back for good, or the provider's cache would not know the prefix again.
        talk.request.messages.push(Message::new(Role::User, Part::text("Go on.")));
        talk.turn();
        assert_eq!(
            returned(&sims, &words, issuer),
            (sealed.clone(), sealed),
            "{client:?} on {issuer:?}"
        );
    }
}

#[test]
fn with_metadata_the_store_has_seals_and_no_words() {
    let sims = Simulators::start();
    let folder = Folder::new();
    let mut gateway = Running::start(&(sims.toml() + &folder.toml("metadata")));
    let mut kept = Vec::new();
    for issuer in ISSUERS {
        let words = format!("asked-in-confidence-{}", issuer.as_str());
        let mut talk = Talk::new(&gateway, Protocol::OpenaiChat, issuer, &words);
        talk.turn();
        talk.turn();
        let (back, sealed) = returned(&sims, &words, issuer);
        assert_eq!(back, sealed, "{issuer:?}");
        kept.push((issuer, sealed));
    }
    gateway.stop();
    for (issuer, sealed) in kept {
        let is_kept = sealed.iter().any(|seal| folder.holds(seal).is_some());
        // Readable thinking is content: what seals it is of no use without, and stays in memory.
        assert_eq!(is_kept, issuer == Protocol::Gemini, "{issuer:?}");
    }
    for word in ["in-confidence", "Porto", "Lagos"] {
        assert_eq!(folder.holds(word), None, "{word}");
    }
}
