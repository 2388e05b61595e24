//! `sabir route`: why a request would go where it would go.

use serde_json::json;

use crate::folder::Folder;
use crate::serving::Serving;

const CONFIG: &str = r#"env_providers = false

[[model]]
name = "auto"
strategy = "class"

[model.classes]
default = [{ provider = "sim-anthropic", model = "sim" }]
coding = [{ provider = "sim-chat", model = "sim" }]
web_search = [{ provider = "sim-gemini", model = "sim" }]
"#;

fn folder(test: &str) -> Folder {
    let asked =
        json!({"model": "auto", "messages": [{"role": "user", "content": "请联网搜索天气"}]});
    let wrote = json!({"contents": [
        {"role": "model", "parts": [{"functionCall": {"name": "replace", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "replace", "response": {}}}]},
    ]});
    let folder = Folder::new(test).with("sabir.toml", CONFIG);
    folder.with("request.json", &asked.to_string()).with("gemini.json", &wrote.to_string())
}

#[test]
fn the_class_its_reason_and_the_targets_are_printed() {
    let folder = folder("route");
    let run = folder.sabir("route --config sabir.toml request.json", &[]).exits(0);
    assert_eq!(
        run.stdout,
        "route  class:web_search (the user asks for a web search)\n\
         asked  sim-gemini/sim, then sim-anthropic/sim\n"
    );
    let run = folder.sabir("route --from gemini --model auto --json gemini.json", &[]).exits(0);
    let explained: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(explained["class"], "coding");
    assert_eq!(explained["reason"], "last tool wrote a file");
    assert_eq!(explained["candidates"], json!(["sim-chat/sim", "sim-anthropic/sim"]));
}

#[test]
fn other_models_say_why_as_well_and_bad_input_is_an_error() {
    let folder = folder("route-others");
    let run = folder.sabir("route --model sim-chat/x request.json", &[]).exits(0);
    assert_eq!(run.stdout, "route  direct\nasked  sim-chat/x\n");
    let run = folder.sabir("route --model nobody request.json", &[]).exits(1);
    assert!(run.stderr.contains("no provider serves"), "{}", run.stderr);
    let run = folder.sabir("route --from gemini gemini.json", &[]).exits(1);
    assert!(run.stderr.contains("--model"), "{}", run.stderr);
    folder.sabir("route sabir.toml", &[]).exits(1);
}

/// A request of Chat with a tool's result at its end.
fn behind_tool(name: &str, arguments: &str) -> serde_json::Value {
    let call =
        json!({"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}});
    json!({"model": "auto", "messages": [{"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "done"}]})
}

#[test]
fn a_gateway_decides_as_it_is_explained() {
    let classes = ["multimodal", "vision", "web_search", "thinking", "coding", "search", "tools"];
    let targets: String = classes
        .iter()
        .map(|class| format!("{class} = [{{ provider = \"sim-chat\", model = \"{class}\" }}]\n"))
        .collect();
    let config = CONFIG.replace("coding = [{ provider = \"sim-chat\", model = \"sim\" }]\n", "");
    let config =
        config.replace("web_search = [{ provider = \"sim-gemini\", model = \"sim\" }]\n", &targets);
    let folder = Folder::new("route-decided").with("sabir.toml", &config);
    let asking =
        |text: &str| json!({"model": "auto", "messages": [{"role": "user", "content": text}]});
    let image =
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}});
    let shown = json!({"model": "auto", "messages": [{"role": "user", "content": [image]}]});
    let mut earlier = shown.clone();
    let later = [
        json!({"role": "assistant", "content": "A cat."}),
        json!({"role": "user", "content": "Sure?"}),
    ];
    earlier["messages"].as_array_mut().unwrap().extend(later);
    let requests = [
        ("multimodal", shown),
        ("vision", earlier),
        ("web_search", asking("请联网搜索天气")),
        ("thinking", asking("不要联网搜索")),
        ("coding", behind_tool("apply_patch", "{}")),
        ("search", behind_tool("bash", r#"{"command":"grep -rn x ."}"#)),
        ("tools", behind_tool("get_weather", "{}")),
        ("default", json!({"model": "auto", "messages": [{"role": "assistant", "content": "{"}]})),
    ];
    let (serving, _) = Serving::start(&folder);
    for (class, request) in requests {
        let body = request.to_string();
        let run = folder.sabir_reads("route --config sabir.toml --json", &body).exits(0);
        let explained: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(explained["class"], class, "{}", run.stdout);
        let answer = serving.post("/v1/chat/completions", "", &body);
        let header = |name: &str| {
            let lines = answer.lines().filter_map(|line| line.split_once(": "));
            lines.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).next()
        };
        let route = explained["route"].as_str().map(str::to_owned);
        assert_eq!(header("sabir-route"), route, "{answer}");
        let provider = header("sabir-provider").unwrap();
        let first = explained["candidates"][0].as_str().unwrap();
        assert_eq!(first.split('/').next(), Some(provider.as_str()), "{answer}");
    }
}
