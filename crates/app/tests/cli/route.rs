//! `sabir route`: why a request would go where it would go.

use serde_json::json;

use crate::folder::Folder;

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
