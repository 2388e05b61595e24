//! Requests that were labelled by hand, half of them Chinese: each is of the class that its label says, in every protocol that
//! can say it.

use std::collections::BTreeMap;

use sabir_compose::budget::BytesPerToken;
use sabir_compose::class::{Class, Facts, Intent, Measured, classify};
use sabir_wire::protocol::DecodedRequest;
use sabir_wire::target::Target;
use sabir_wire::{LossKind, Protocol};
use serde_json::{Value, json};

const LABELLED: [&str; 2] =
    [include_str!("classes/english.jsonl"), include_str!("classes/chinese.jsonl")];

/// The name that stands for background work in the labels.
const BACKGROUND: &str = "claude-haiku-4-5";

fn labelled() -> impl Iterator<Item = Value> {
    LABELLED.iter().flat_map(|file| file.lines()).map(|line| serde_json::from_str(line).unwrap())
}

/// The class of a request in the form of Chat, as each protocol would be sent it.
fn class_of(request: &DecodedRequest<'_>, asked: &str) -> Class {
    let measured = Measured::of(&request.request().messages);
    let tokens = BytesPerToken::default().tokens_of(measured.weight);
    let facts = Facts::read(request.request(), (&measured, tokens), &Intent::default());
    let facts = if asked == BACKGROUND { facts.in_background() } else { facts };
    classify(&facts, |_| true).class
}

#[test]
fn every_request_is_of_the_class_of_its_label() {
    let (mut wrong, mut stated) = (Vec::new(), BTreeMap::new());
    for label in labelled() {
        let asked = label["asked"].as_str().unwrap_or("auto");
        let body = chat_body(&label).to_string();
        let request = Protocol::OpenaiChat.decode_request_text(&body).unwrap();
        for protocol in Protocol::ALL {
            let sent = request.encode(protocol, &Target::default()).unwrap();
            // What it cannot say, or says otherwise, is another conversation.
            let is_other = |kind| matches!(kind, LossKind::Dropped | LossKind::Approximated);
            if sent.report.entries().iter().any(|it| is_other(it.kind)) {
                continue;
            }
            *stated.entry(protocol.as_str()).or_insert(0) += 1;
            let class = class_of(&protocol.decode_request_text(&sent.body).unwrap(), asked);
            if class.name() != label["class"] {
                let (class, protocol) = (class.name(), protocol.as_str());
                let (label, why) = (&label["class"], &label["why"]);
                wrong.push(format!("{class} instead of {label} in {protocol}: {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        stated.len() == Protocol::ALL.len() && stated.values().all(|it| *it >= 100),
        "{stated:?}"
    );
}

#[test]
fn what_an_agent_puts_beside_the_users_words_is_nobodys_word() {
    let reminder = "<system-reminder>You may search the web for news.</system-reminder>";
    let class = |parts: Value| {
        let body = json!({"messages": [{"role": "user", "content": parts}]}).to_string();
        class_of(&Protocol::OpenaiChat.decode_request_text(&body).unwrap(), "auto")
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(class(json!([text(reminder), text("What is two and two?")])), Class::Thinking);
    assert_eq!(class(json!([text(reminder), text("Search the web for it.")])), Class::WebSearch);
}

#[test]
fn the_labels_are_as_many_as_they_should_be_and_half_of_them_are_chinese() {
    let [english, chinese] = LABELLED.map(|file| file.lines().count());
    assert!(english + chinese >= 120 && english == chinese, "{english} and {chinese}");
    for class in Class::ALL {
        assert!(labelled().any(|label| label["class"] == class.name()), "{}", class.name());
    }
}

/// A label's conversation as a request of Chat.
fn chat_body(label: &Value) -> Value {
    let mut messages = Vec::new();
    let mut calls = 0;
    for turn in label["turns"].as_array().unwrap() {
        match turn {
            Value::String(text) => messages.push(message(text)),
            turn => structured(turn, &mut calls, &mut messages),
        }
    }
    let offered =
        label["offered"].as_array().map(|tools| tools.iter().map(tool).collect::<Vec<_>>());
    let mut body = json!({"model": "auto", "messages": messages});
    if let Some(tools) = offered {
        body["tools"] = tools.into();
    }
    body
}

/// `ROLE: words`, with `+KIND` behind the role for a medium beside the words.
fn message(text: &str) -> Value {
    let (who, words) = text.split_once(": ").unwrap();
    let Some((role, medium)) = who.split_once('+') else {
        return json!({"role": who, "content": words});
    };
    json!({"role": role, "content": [{"type": "text", "text": words}, medium_part(medium)]})
}

fn medium_part(kind: &str) -> Value {
    match kind {
        "image" => {
            json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}})
        }
        "audio" => {
            json!({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}})
        }
        "file" => {
            let data = "data:application/pdf;base64,JVBERi0=";
            json!({"type": "file", "file": {"filename": "a.pdf", "file_data": data}})
        }
        other => panic!("no medium {other}"),
    }
}

fn structured(turn: &Value, calls: &mut usize, messages: &mut Vec<Value>) {
    if let Some(repeat) = turn["repeat"].as_array() {
        let text = repeat[0].as_str().unwrap().repeat(repeat[1].as_u64().unwrap() as usize);
        messages.push(json!({"role": "user", "content": text}));
    } else if let Some(several) = turn["calls"].as_array() {
        messages.push(calling(several, calls));
    } else if turn.get("call").is_some() {
        messages.push(calling(std::slice::from_ref(turn), calls));
    } else if let Some(several) = turn["results"].as_array() {
        let first = *calls - several.len();
        let numbered = several.iter().enumerate();
        messages.extend(numbered.map(|(at, it)| result(first + at, it.clone())));
    } else if let Some(text) = turn.get("result+image") {
        let parts = json!([{"type": "text", "text": text}, medium_part("image")]);
        messages.push(result(*calls - 1, parts));
    } else {
        messages.push(result(*calls - 1, turn["result"].clone()));
    }
}

fn calling(several: &[Value], calls: &mut usize) -> Value {
    let several: Vec<Value> = several
        .iter()
        .map(|call| {
            *calls += 1;
            let (name, arguments) = (&call["call"], call["arguments"].to_string());
            let function = json!({"name": name, "arguments": arguments});
            json!({"id": format!("call_{}", *calls - 1), "type": "function", "function": function})
        })
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": several})
}

fn result(number: usize, content: Value) -> Value {
    json!({"role": "tool", "tool_call_id": format!("call_{number}"), "content": content})
}

fn tool(name: &Value) -> Value {
    match name.as_str().unwrap() {
        "hosted:web_search" => json!({"type": "web_search"}),
        name => {
            json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}})
        }
    }
}
