//! Servers that say more behind the finish reason.

use super::*;

fn usage(output: u64) -> Value {
    json!({"prompt_tokens": 1, "completion_tokens": output, "total_tokens": output + 1})
}

fn with_usage(mut chunk: Value, output: u64) -> Value {
    chunk["usage"] = usage(output);
    chunk
}

/// The whole answer that a stream amounts to, whether its end is marked or not.
fn answer(chunks: &[Value]) -> Value {
    let [marked, unmarked] = [DONE, &[]].map(|end| shared::folded(SELF, events(chunks, end)));
    assert_eq!(marked, unmarked);
    marked
}

fn check(chunks: &[Value], message: &Value, finish: &str) {
    let answer = answer(chunks);
    let choice = &answer["choices"][0];
    for (key, value) in message.as_object().unwrap() {
        assert_eq!(choice["message"][key], *value);
    }
    assert_eq!(choice["finish_reason"], finish);
}

#[test]
fn words_behind_the_finish_reason_go_on_with_the_answer() {
    let text = json!({"content": "High water at noon"});
    let going_on = |delta| chunk(delta, None);
    let begun = going_on(json!({"content": "High water "}));
    let end = || chunk(json!({}), Some("stop"));
    let late = || going_on(json!({"content": "at noon"}));
    check(&[begun.clone(), end(), late()], &text, "stop");
    check(&[begun.clone(), with_usage(end(), 3), late()], &text, "stop");
    check(&[begun.clone(), end(), with_usage(json!({"choices": []}), 3), late()], &text, "stop");
    check(
        &[begun.clone(), end(), late(), chunk(json!({"content": ""}), Some("length"))],
        &text,
        "length",
    );
    let thought = json!({"content": "High water ", "reasoning_content": "noon?"});
    check(&[begun, end(), going_on(json!({"reasoning_content": "noon?"}))], &thought, "stop");
}

#[test]
fn calls_behind_the_finish_reason_are_made() {
    let chunks = [
        chunk(json!({"content": "Looking."}), None),
        chunk(json!({}), Some("tool_calls")),
        chunk(fragment(0, Some("a"), Some("f"), "{\"x\""), None),
        chunk(fragment(0, None, None, ":1}"), Some("tool_calls")),
        // An end that is merely repeated undoes nothing.
        chunk(json!({"role": "assistant", "content": ""}), Some("stop")),
    ];
    let answer = answer(&chunks);
    assert_eq!(arguments_of(&answer["choices"][0]["message"]), [("a", "{\"x\":1}")]);
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn a_server_that_states_an_end_in_every_chunk_is_heard_out() {
    for word in ["", "stop"] {
        let chunks = [
            with_usage(chunk(json!({"content": "High "}), Some(word)), 1),
            with_usage(chunk(json!({"content": "water "}), Some(word)), 2),
            with_usage(chunk(json!({"content": "at no"}), Some("length")), 3),
        ];
        check(&chunks, &json!({"content": "High water at no"}), "length");
        assert_eq!(answer(&chunks)["usage"], usage(3));
        let opened = events(&chunks, DONE).iter().filter(|it| matches!(it, Event::Open(_))).count();
        assert_eq!(opened, 1);
    }
}

#[test]
fn usage_follows_the_end_that_it_came_with() {
    let chunks = [with_usage(chunk(json!({"content": "a"}), Some("stop")), 1)];
    let events = events(&chunks, DONE);
    assert!(matches!(events[..], [.., Event::Close(_), Event::Finish { .. }, Event::Usage(_)]));
}

/// A chunk of one of several choices.
fn of_choice(index: u32, text: &str, finish: Option<&str>) -> Value {
    let mut chunk = chunk(json!({"content": text}), finish);
    chunk["choices"][0]["index"] = json!(index);
    chunk
}

#[test]
fn an_end_does_not_wait_for_other_choices_and_what_comes_behind_it_is_told() {
    let chunks = [
        of_choice(0, "a", None),
        of_choice(1, "b", None),
        of_choice(0, "", Some("stop")),
        of_choice(1, "c", None),
        of_choice(0, "late", None),
        of_choice(1, "", Some("stop")),
    ];
    let frames: Vec<Value> = written(&chunks, AnswerContext::default())
        .into_iter()
        .map(|mut frame| frame["choices"][0].take())
        .filter(|choice| choice["delta"]["role"].is_null())
        .map(|choice| json!([choice["index"], choice["delta"]["content"], choice["finish_reason"]]))
        .collect();
    let expected = json!([
        [0, "a", null],
        [1, "b", null],
        [0, null, "stop"],
        [1, "c", null],
        [0, "late", null],
        [1, null, "stop"]
    ]);
    assert_eq!(json!(frames), expected);
    let source = (SELF, events(&chunks, DONE));
    let (_, report) = shared::written(Protocol::Gemini, source, AnswerContext::default());
    let lost = report.entries().iter().find(|loss| loss.pointer == "/4/choices/0/delta/content");
    assert_eq!(lost.map(|loss| loss.kind), Some(LossKind::Dropped));
}
