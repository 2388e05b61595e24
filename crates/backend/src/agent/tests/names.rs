//! Tools and messages under other names than a CLI takes.

use super::*;

/// What a turn of Codex calls and what the client then gets, for a tool of the client's.
async fn called(name: &str, shown: &str) -> (FakeAgent, String) {
    let fake = FakeAgent::codex(&TURN.replace("Bash", shown));
    let body = format!(
        r#"{{"model":"m","tools":[{{"type":"function","name":"{name}","parameters":{{"type":"object"}}}}],"input":[
        {{"role":"system","content":"Be brief."}},{{"type":"message","role":"system","content":[{{"type":"input_text","text":"Be kind."}}]}},
        {{"role":"user","content":"One"}},{{"type":"function_call","call_id":"call_0","name":"{name}","arguments":"{{}}"}},
        {{"type":"function_call_output","call_id":"call_0","output":"x"}}]}}"#
    );
    let response = received(&agent(Kind::OpenaiCodex, &fake), &body).await;
    let parts = response.candidates.iter().flat_map(|it| it.message.parts.iter());
    let mut names = parts.filter_map(|part| match part.content() {
        Content::ToolCall(call) => Some(call.name.to_str().into_owned()),
        _ => None,
    });
    let called = names.next().unwrap_or_default();
    (fake, called)
}

#[tokio::test]
async fn codex_knows_tools_whose_names_it_keeps_for_itself_by_others() {
    for (name, shown) in
        [("Bash", "Bash"), ("mcp__a__b", "_mcp__a__b"), ("apply_patch", "_apply_patch")]
    {
        let (fake, called) = called(name, shown).await;
        assert_eq!(called, name);
        let sent: Vec<String> = fake.noted("input").lines().map(str::to_owned).collect();
        let offered = format!(r#""dynamicTools":[{{"type":"function","name":"{shown}","#);
        assert!(sent[2].contains(&offered), "{}", sent[2]);
        let call = format!(r#""call_id":"call_0","name":"{shown}","#);
        assert!(sent[3].contains(&call), "{}", sent[3]);
    }
}

#[tokio::test]
async fn codex_is_told_by_a_developer_what_a_system_says() {
    let (fake, _) = called("Bash", "Bash").await;
    let sent = fake.noted("input");
    for words in ["Be brief.", "Be kind."] {
        let (before, _) = sent.split_once(words).unwrap();
        assert_eq!(
            before.matches(r#""role":"developer""#).count(),
            1 + usize::from(words == "Be kind.")
        );
    }
    assert!(!sent.contains(r#""role":"system""#), "{sent}");
}

#[tokio::test]
async fn a_schema_that_would_cost_all_tools_is_refused_or_mended() {
    let body = |kind: Kind, schema: &str| match kind {
        Kind::ClaudeCode => format!(
            r#"{{"messages":[{{"role":"user","content":"hello"}}],"tools":[{{"name":"f","input_schema":{schema}}}]}}"#
        ),
        _ => format!(
            r#"{{"contents":[{{"role":"user","parts":[{{"text":"hello"}}]}}],"tools":[{{"functionDeclarations":[{{"name":"f","parametersJsonSchema":{schema}}}]}}]}}"#
        ),
    };
    for kind in [Kind::ClaudeCode, Kind::GoogleGemini] {
        let fake = FakeAgent::new("exit 1");
        let agent = agent(kind, &fake);
        let ask = |schema: &str| agent.ask("m", body(kind, schema).into(), "");
        for schema in [r#"{"type":"string"}"#, r#"{"type":"object","required":"a"}"#] {
            let refused = ask(schema).await.unwrap_err();
            assert_eq!(refused.kind, FaultKind::BadRequest, "{kind:?} {schema}");
            assert!(refused.message.to_str().contains("`f`"), "{kind:?} {schema}");
        }
        drop(ask(r#"{"properties":{},"required":null}"#).await.unwrap());
    }
    settle(Duration::from_secs(10));
}
