//! What the rules make of answers.

use sabir_wire::conversation::CallForm;
use sabir_wire::json::Text;
use sabir_wire::protocol::{NodeSemantics, Open, PartId};

use super::*;
use crate::govern::{ArgumentRule, Renamed, UndeclaredRule};

const DESCRIBED: &str =
    "[The model called the tool `shell`, which is not offered here, with {\"x\":1}]";

fn offering() -> Value {
    request(&json!([read_file()]))
}

fn answered(table: &RuleTable, message: &Value) -> Answered {
    answer(&offering(), &rules(table), message)
}

fn pair(name: &str, arguments: &str) -> (String, String) {
    (name.to_owned(), arguments.to_owned())
}

#[test]
fn calls_of_tools_that_were_not_offered_pass_are_told_or_refused() {
    let call = calling("shell", "{\"x\":1}");
    let undeclared = |rule| RuleTable { undeclared: Some(rule), ..RuleTable::default() };
    let passed = answered(&undeclared(UndeclaredRule::Pass), &call);
    assert_eq!(
        (passed.parts, passed.finish.as_str()),
        (vec![pair("shell", "{\"x\":1}")], "tool_calls")
    );
    let described = answered(&undeclared(UndeclaredRule::Text), &call);
    assert_eq!(
        (described.parts, described.finish.as_str()),
        (vec![pair("text", DESCRIBED)], "stop")
    );
    assert_eq!(described.losses, ["approximated"]);
    let refused = answered(&undeclared(UndeclaredRule::Refuse), &call);
    assert_eq!(refused.code.as_deref(), Some("undeclared"));
}

#[test]
fn a_call_of_a_denied_tool_never_passes() {
    for undeclared in [UndeclaredRule::Pass, UndeclaredRule::Text, UndeclaredRule::Refuse] {
        let (deny, undeclared) = (globs(&["shell"]), Some(undeclared));
        let table = RuleTable { deny, undeclared, ..RuleTable::default() };
        let request = request(&json!([read_file(), function("shell", &json!({}))]));
        let answered = answer(&request, &rules(&table), &calling("shell", "{\"x\":1}"));
        assert!(!answered.parts.iter().any(|(name, _)| name == "shell"), "{undeclared:?}");
    }
}

#[test]
fn a_piece_of_a_call_that_lacks_the_rest_does_not_pass() {
    let body = offering().to_string();
    let decoded = Protocol::OpenaiChat.decode_request_text(&body).unwrap();
    let (rules, mut context) = (rules(&RuleTable::default()), AnswerContext::default());
    let names = (&mut context, Default::default());
    let offer = Offer::new(decoded.request(), Protocol::OpenaiChat, names, &rules);
    let mut governor = Governor::new(Arc::new(offer));
    let piece = json!({"functionCall": {"name": "shell", "willContinue": true}});
    let content = json!({"role": "model", "parts": [{"text": "Well."}, piece]});
    let answer = json!({"candidates": [{"content": content, "finishReason": "STOP"}]}).to_string();
    let mut opened = Vec::new();
    unfold(Protocol::Gemini.decode_response(answer.as_bytes()).unwrap(), &mut |event| {
        governor.event(event, &mut |event| {
            if let Event::Open(open) = event {
                opened.push(matches!(open.opening, Opening::Text));
            }
        });
    });
    assert_eq!(opened, [true]);
    let losses = governor.take_report().into_entries();
    let losses: Vec<_> = losses.iter().map(|it| (&*it.pointer, it.kind.to_string())).collect();
    assert_eq!(losses, [("/candidates/0/content/parts/1", "dropped".to_owned())]);
}

#[test]
fn an_answer_with_calls_that_pass_still_waits_for_them() {
    let table = RuleTable { deny: globs(&["shell"]), ..RuleTable::default() };
    let mut message = calling("shell", "{\"x\":1}");
    let other = calling("read_file", "{\"path\":\"a\"}");
    let calls = message["tool_calls"].as_array_mut().unwrap();
    let mut second = other["tool_calls"][0].clone();
    second["id"] = json!("call_2");
    calls.push(second);
    let answered = answered(&table, &message);
    assert_eq!(answered.finish, "tool_calls");
    assert_eq!(answered.parts, [pair("text", DESCRIBED), pair("read_file", "{\"path\":\"a\"}")]);
}

#[test]
fn the_client_sees_its_own_names() {
    let rename = Some(vec![("read_file".to_owned(), "cat".to_owned())]);
    let answered = answered(&RuleTable { rename, ..RuleTable::default() }, &calling("cat", "{}"));
    assert_eq!(answered.parts, [pair("read_file", "{}")]);
}

#[test]
fn arguments_are_repaired_or_refused() {
    let arguments = |rule| RuleTable { arguments: Some(rule), ..RuleTable::default() };
    let call = calling("read_file", "{'path': 'a', 'lines': '3',}");
    let repaired = answered(&arguments(ArgumentRule::Repair), &call);
    assert_eq!(repaired.parts, [pair("read_file", "{\"path\":\"a\",\"lines\":3}")]);
    assert_eq!(repaired.losses, ["repaired"]);
    assert_eq!(
        answered(&arguments(ArgumentRule::Refuse), &call).code.as_deref(),
        Some("arguments")
    );
    let wrong = answered(&arguments(ArgumentRule::Repair), &calling("read_file", "{}"));
    assert_eq!((wrong.parts, wrong.losses.len()), (vec![pair("read_file", "{}")], 0));
    let good =
        answered(&arguments(ArgumentRule::Refuse), &calling("read_file", "{ \"path\":\"a\"}"));
    assert_eq!(good.parts, [pair("read_file", "{ \"path\":\"a\"}")]);
}

#[test]
fn a_repaired_call_keeps_the_clients_name() {
    let rename = Some(vec![("read_file".to_owned(), "cat".to_owned())]);
    let table = RuleTable { rename, arguments: Some(ArgumentRule::Repair), ..RuleTable::default() };
    let answered = answered(&table, &calling("cat", "{'path':'a'}"));
    assert_eq!(answered.parts, [pair("read_file", "{\"path\":\"a\"}")]);
}

#[test]
fn a_name_of_the_rules_that_gets_an_alias_leads_back_to_the_clients() {
    let long = "cat_".repeat(20);
    let rename = Some(vec![("read_file".to_owned(), long.clone())]);
    let undeclared = Some(UndeclaredRule::Refuse);
    let rules = rules(&RuleTable { rename, undeclared, ..RuleTable::default() });
    let body = offering().to_string();
    let mut decoded = Protocol::OpenaiChat.decode_request_text(&body).unwrap();
    let governed = plan(decoded.request(), &rules).unwrap().apply(decoded.edit(), &rules, POINTERS);
    let upstream = Protocol::Gemini;
    let mut context = AnswerContext::by(&decoded, upstream, &Target::default());
    let alias = context.names[0].0.to_str().into_owned();
    let names = (&mut context, governed.renamed);
    let offer = Offer::new(decoded.request(), Protocol::OpenaiChat, names, &rules);
    assert!(offer.tool(&alias).is_some() && offer.tool(&long).is_none());
    assert_eq!((offer.client_name(&alias), offer.client_name("other")), ("read_file", "other"));
    // In its own protocol a request is written with its own names.
    assert!(AnswerContext::by(&decoded, Protocol::OpenaiChat, &Target::default()).names.is_empty());
}

#[test]
fn of_calls_that_are_long_together_only_so_much_is_held_back() {
    let table = RuleTable { arguments: Some(ArgumentRule::Repair), ..RuleTable::default() };
    let body = offering().to_string();
    let decoded = Protocol::OpenaiChat.decode_request_text(&body).unwrap();
    let mut context = AnswerContext::by(&decoded, Protocol::OpenaiChat, &Target::default());
    let names = (&mut context, Renamed::default());
    let offer = Offer::new(decoded.request(), Protocol::OpenaiChat, names, &rules(&table));
    let mut governor = Governor::new(Arc::new(offer));
    let mut passed = 0;
    for part in (0..6).map(PartId) {
        let (id, name) = (None, Text::literal("read_file"));
        let opening = Opening::ToolCall { id, name, form: CallForm::Function };
        let semantics = NodeSemantics::default();
        let open = Event::Open(Open { part, candidate: 0, opening, semantics });
        let delta = Event::Delta(part, Delta::Text(Text::plain("a".repeat(3 << 20))));
        governor.event(open, &mut |_| passed += 1);
        governor.event(delta, &mut |_| passed += 1);
    }
    assert_eq!(passed, 4 * 2, "two of six are held back");
    assert_eq!(governor.take_report().entries().len(), 4);
}

/// Whether a call of `bash` passes where its vendor's tool is on offer.
fn passes_bash(table: &RuleTable) -> bool {
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "bash_20250124", "name": "bash"}]});
    let (rules, body) = (rules(table), body.to_string());
    let mut decoded = Protocol::AnthropicMessages.decode_request_text(&body).unwrap();
    let plan = plan(decoded.request(), &rules).unwrap();
    let governed = match plan.changes() {
        true => plan.apply(decoded.edit(), &rules, POINTERS),
        false => plan.unchanged(),
    };
    let names = (&mut AnswerContext::default(), governed.renamed);
    let offer = Offer::new(decoded.request(), decoded.protocol(), names, &rules);
    let mut governor = Governor::new(Arc::new(offer));
    let name = Text::literal("bash");
    let opening = Opening::ToolCall { id: None, name, form: CallForm::Function };
    let semantics = NodeSemantics::default();
    let mut has_passed = false;
    let open = Open { part: PartId(0), candidate: 0, opening, semantics };
    governor.event(Event::Open(open), &mut |_| has_passed = true);
    has_passed
}

#[test]
fn a_call_of_a_hosted_tool_is_judged_by_all_of_its_names() {
    for name in ["bash", "bash_20250124", "bash_*"] {
        let deny = RuleTable { deny: globs(&[name]), ..RuleTable::default() };
        assert!(!passes_bash(&deny), "deny {name}");
        let allow = RuleTable { allow: globs(&[name]), ..RuleTable::default() };
        assert!(passes_bash(&allow), "allow {name}");
    }
    assert!(!passes_bash(&RuleTable { allow: globs(&["read"]), ..RuleTable::default() }));
}
