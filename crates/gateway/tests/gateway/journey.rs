//! One conversation on its way through all providers, compressed on the way: nothing that was said before is missing anywhere.

use sabir_testkit::agents::FakeAgent;
use sabir_wire::Protocol;
use serde_json::{Value, json as value};

use crate::harness::*;
use crate::long::{facts, numbers, text_of, windowed};
use crate::memory::{STORE, request};

/// A gateway with a windowed provider of each protocol, named after it, an agent CLI, and the conversation `w1`.
struct Journey {
    gateway: Running,
    providers: Vec<(Protocol, Provider)>,
    /// Gemini CLI, which is asked for as `cli/m`.
    cli: FakeAgent,
    facts: usize,
}

/// What the CLI answers.
const TURN: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"All is well."}}}}
{"jsonrpc":"2.0","id":@P,"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":7,"output_tokens":2}}}}}
"#;

impl Journey {
    fn begin() -> Self {
        let providers = Protocol::ALL.map(|protocol| (protocol, windowed(protocol)));
        let tables = providers.iter().map(|(it, provider)| provider.toml(it.as_str(), it.as_str()));
        let cli = FakeAgent::gemini(TURN, "");
        let command = serde_json::to_string(&cli.command()).unwrap();
        let agent = format!(
            "\n[[provider]]\nname = \"cli\"\nagent = \"google-gemini\"\ncommand = {command}\n"
        );
        let toml: String = tables.chain([agent, STORE.to_owned()]).collect();
        Self { gateway: Running::start(&toml), providers: providers.into(), cli, facts: 0 }
    }

    /// Sends a body to a client's path, and looks for every fact in what its provider was sent, and for every loss in the
    /// report of its turn.
    fn step(&mut self, upstream: Protocol, path: &str, body: &Value) -> Reply {
        let reply = self.send(path, body);
        let (_, provider) = self.providers.iter().find(|(it, _)| *it == upstream).unwrap();
        let sent = provider.received().pop().unwrap().body;
        self.check(&sent, &reply);
        reply
    }

    /// The same through the CLI: its record, what it is asked, and its system prompt are what it was sent.
    fn step_through_cli(&mut self, path: &str, body: &Value) -> Reply {
        let reply = self.send(path, body);
        let sent = ["system", "record", "input"].map(|it| self.cli.noted(it)).concat();
        self.check(&sent, &reply);
        reply
    }

    fn send(&mut self, path: &str, body: &Value) -> Reply {
        let named = if path.contains("submit") { "" } else { "sabir-conversation: w1\r\n" };
        let head = format!("POST {path}\r\n{named}sabir-requires-action: true\r\n");
        let reply = self.gateway.request(&head, &body.to_string());
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        let newest = numbers(&body.to_string()).pop().unwrap_or_default();
        self.facts = self.facts.max(newest);
        reply
    }

    fn check(&self, sent: &str, reply: &Reply) {
        let expected: Vec<usize> = (1..=self.facts).collect();
        assert_eq!(numbers(sent), expected, "{sent}");
        let exchange = reply.header("sabir-exchange").unwrap();
        let exchange = self.gateway.get(&format!("/sabir/v1/exchanges/{exchange}")).json();
        let turns = self.gateway.get("/sabir/v1/conversations/w1").json();
        let turn = turns["turns"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(turn["id"].as_str(), reply.header("sabir-turn"), "{turns}");
        assert_eq!(turn["losses"], exchange["losses"], "{turn}");
    }
}

#[test]
fn one_conversation_goes_through_every_protocol_and_an_agent_cli() {
    let mut journey = Journey::begin();
    let chat = "/v1/chat/completions";
    let tools = value!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]);
    let chat_body = |content: String| value!({"model": "openai-chat/m", "tools": tools, "messages": [{"role": "user", "content": content}]});
    // A round of tools on OpenAI.
    let reply =
        journey.step(Protocol::OpenaiChat, chat, &chat_body("FACT1 please look".to_owned()));
    let call = reply.json()["choices"][0]["message"]["tool_calls"][0]["id"].clone();
    let result = value!({"role": "tool", "tool_call_id": call, "content": "LOOKED FACT2"});
    journey.step(
        Protocol::OpenaiChat,
        chat,
        &value!({"model": "openai-chat/m", "messages": [result]}),
    );
    // Until it is compressed.
    let mut turn = 2;
    loop {
        turn += 1;
        let reply = journey.step(Protocol::OpenaiChat, chat, &chat_body(text_of(turn)));
        if reply.header("sabir-compacted").is_some() {
            break;
        }
    }
    // Continued on Anthropic, then on Gemini.
    let (path, body) =
        request(Protocol::AnthropicMessages, "anthropic-messages", &text_of(turn + 1));
    let body: Value = serde_json::from_str(&body).unwrap();
    journey.step(Protocol::AnthropicMessages, &path, &body);
    let (path, body) = request(Protocol::Gemini, "gemini", &text_of(turn + 2));
    let body: Value = serde_json::from_str(&body).unwrap();
    journey.step(Protocol::Gemini, &path, &body);
    // Then through the Gemini CLI, whose report says what it cannot be told.
    turn += 3;
    let mut body =
        value!({"model": "cli/m", "messages": [{"role": "user", "content": text_of(turn)}]});
    body["temperature"] = value!(0.5);
    let reply = journey.step_through_cli(chat, &body);
    assert!(reply.body.contains("All is well."), "{}", reply.body);
    let exchange = format!("/sabir/v1/exchanges/{}", reply.header("sabir-exchange").unwrap());
    let losses = journey.gateway.get(&exchange).json()["losses"].clone();
    let is_reported = |loss: &Value| loss["pointer"] == "/temperature" && loss["kind"] == "dropped";
    assert!(losses.as_array().unwrap().iter().any(is_reported), "{losses}");
    // Then by Responses, whose calls are answered by a submission.
    for (number, upstream) in Protocol::ALL.into_iter().enumerate() {
        let text = format!("FACT{} please look", turn + 1 + 2 * number);
        let tools =
            value!([{"type": "function", "name": "look", "parameters": {"type": "object"}}]);
        let body =
            value!({"model": format!("{}/m", upstream.as_str()), "input": text, "tools": tools});
        let asked = journey.step(upstream, "/v1/responses", &body).json();
        assert_eq!(asked["status"], "requires_action", "{asked}");
        let call = &asked["required_action"]["submit_tool_outputs"]["tool_calls"][0]["id"];
        let output = format!("LOOKED FACT{}", turn + 2 + 2 * number);
        let submitted = value!({"tool_outputs": [{"tool_call_id": call, "output": output}]});
        let path = format!("/v1/responses/{}/submit_tool_outputs", asked["id"].as_str().unwrap());
        let done = journey.step(upstream, &path, &submitted).json();
        assert_eq!(done["status"], "completed", "{upstream:?}: {done}");
    }
    // What is kept has one form, and all of it.
    let kept = journey.gateway.get("/sabir/v1/conversations/w1/messages").body;
    assert_eq!(facts(&kept).len(), journey.facts, "{kept}");
    for protocol in Protocol::ALL {
        let path = format!("/sabir/v1/conversations/w1/messages?as={}", protocol.as_str());
        assert_eq!(facts(&journey.gateway.get(&path).body).len(), journey.facts, "{protocol:?}");
    }
}
