//! Bodies of Gemini in every spelling that its vendor takes mean the same when they are encoded anew.

use sabir_testkit::{meaning, translate};
use sabir_wire::{Error, Protocol, Report};
use serde_json::Value;

const GEMINI: Protocol = Protocol::Gemini;

const REQUESTS: &[&str] = &[
    r#"{}"#,
    r#"{"contents":[]}"#,
    r#"{"contents":null,"tools":[],"generationConfig":{},"toolConfig":{}}"#,
    r#"{"model":"models/m","contents":[{"parts":[{"text":"hi"}]}]}"#,
    r#"{"model":"m","contents":[{"role":"user"},{"role":"model","parts":[]},{"role":null,"parts":null}]}"#,
    r#"{"contents":[{"role":"function","parts":[{"functionResponse":{"name":"f","response":{"a":1.0}}}]}]}"#,
    r#"{"contents":[{"role":"system","parts":[{"text":"s"}]},{"role":"assistant","parts":[{"text":"a"}]}]}"#,
    r#"{"systemInstruction":{"role":"system","parts":[{"text":"a"},{"text":"b"}]},"contents":[]}"#,
    r#"{"system_instruction":{"parts":[{"text":"a"}]},"generationConfig":{"top_p":0.50,"topK":1}}"#,
    r#"{"contents":[{"parts":[{"text":"","thoughtSignature":"s"},{"thoughtSignature":"s"},{},{"thought":false}]}]}"#,
    r#"{"contents":[{"parts":[{"text":"t","thought":true},{"text":"","thought":true,"thought_signature":"s"}]}]}"#,
    r#"{"contents":[{"parts":[{"inline_data":{"mime_type":"image/png","data":"iVBO-_w"},"thought":true}]}]}"#,
    r#"{"contents":[{"parts":[{"fileData":{"fileUri":"gs://b/o"}},{"fileData":{"mimeType":"video/mp4","fileUri":"https://x/y"},"videoMetadata":{"fps":1}}]}]}"#,
    r#"{"contents":[{"parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"f","args":null}},{"functionCall":{"id":"1","name":"f","args":{"n":1e2}},"thoughtSignature":"s"}]}]}"#,
    r#"{"contents":[{"parts":[{"functionResponse":{"name":"f","parts":[],"willContinue":true}},{"functionResponse":{"id":"1","name":"f","response":{"error":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]},"thought":false}]}]}"#,
    r#"{"contents":[{"parts":[{"executableCode":{"language":"PYTHON","code":"1"},"thoughtSignature":"s"},{"codeExecutionResult":{"outcome":"OUTCOME_OK"}},{"toolCall":{"id":"a"}},{"newThing":{"x":[1,{}]}},{"text":"a","newThing":1}]}]}"#,
    r#"{"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g","parametersJsonSchema":{"type":"object"},"behavior":"BLOCKING"}],"codeExecution":null},{"google_search":{}},{"urlContext":{},"codeExecution":{}},{},{"functionDeclarations":[]}]}"#,
    r#"{"tools":[{"function_declarations":[{"name":"f","parameters":null,"response":{"type":"STRING"}}]}]}"#,
    r#"{"tool_config":{"function_calling_config":{"mode":"ANY","allowed_function_names":["f","g"]}}}"#,
    r#"{"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"},"retrievalConfig":{"languageCode":"de"}}}"#,
    r#"{"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":[]}}}"#,
    r#"{"toolConfig":{"functionCallingConfig":{"mode":"auto","more":1}}}"#,
    r#"{"generationConfig":{"thinkingConfig":{"thinkingBudget":-1,"includeThoughts":true}}}"#,
    r#"{"generationConfig":{"thinkingConfig":{"thinkingLevel":"low"},"stopSequences":[]}}"#,
    r#"{"generationConfig":{"thinkingConfig":{"thinkingLevel":"THINKING_LEVEL_UNSPECIFIED","thinkingBudget":0}}}"#,
    r#"{"generation_config":{"thinking_config":{"thinking_budget":512},"max_output_tokens":"5","seed":7}}"#,
    r#"{"generationConfig":{"responseMimeType":"text/x.enum","responseSchema":{"type":"STRING","enum":["a"]}}}"#,
    r#"{"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}}}"#,
    r#"{"generationConfig":{"responseSchema":{"type":"OBJECT"},"speechConfig":{"x":1},"unknown":[1]}}"#,
    r#"{"generationConfig":{"responseSchema":{"type":"OBJECT"},"responseJsonSchema":{"type":"object"}}}"#,
    r#"{"safetySettings":[{"category":"X","threshold":"OFF"}],"cachedContent":"c","labels":{"a":"b"},"serviceTier":"flex","store":true,"safety_settings":[],"odd":{"k":null}}"#,
    r#"{"contents":{"parts":{"text":"hi"}},"tools":{"functionDeclarations":{"name":"f"}}}"#,
    r#"{"contents":[{"parts":[{"functionResponse":{"name":"f","parts":{"inlineData":{"mimeType":"image/png","data":"iVBO"}}}}]}]}"#,
    r#"{"toolConfig":{"functionCallingConfig":{"mode":2,"allowedFunctionNames":["f"]}}}"#,
    r#"{"toolConfig":{"functionCallingConfig":{"mode":9}}}"#,
    r#"{"generation_config":{"temperature":"0.50","topP":0.9,"top_k":"4","maxOutputTokens":"2e1"}}"#,
    r#"{"generationConfig":{"thinkingConfig":{"thinkingBudget":"-1"}}}"#,
    r#"{"generationConfig":{"thinkingConfig":{"thinkingBudget":"0"}}}"#,
];

const ANSWERS: &[&str] = &[
    r#"{}"#,
    r#"{"candidates":[]}"#,
    r#"{"candidates":[{"finishReason":"MAX_TOKENS","index":0}],"usageMetadata":{}}"#,
    r#"{"candidates":[{"content":{"role":"model"},"finishReason":"NEW"}],"responseId":null}"#,
    r#"{"candidates":[{"content":{},"index":3},{"content":{"parts":[]},"index":1}]}"#,
    r#"{"promptFeedback":{"blockReason":"SAFETY","safetyRatings":[]},"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"a","thoughtSignature":"s"},{"text":7}],"role":"user"},"safetyRatings":[{"category":"X"}],"avgLogprobs":-0.10}],"modelVersion":"m","modelStatus":{"a":1}}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}],"role":"model"},"finishMessage":"m"}],"usageMetadata":{"promptTokenCount":0,"candidatesTokenCount":0,"thoughtsTokenCount":5,"toolUsePromptTokenCount":2,"cachedContentTokenCount":0,"totalTokenCount":7,"promptTokensDetails":[{"modality":"TEXT"}],"serviceTier":"flex","odd":"1"}}"#,
    r#"{"error":{"code":500,"message":"m","status":"INTERNAL"}}"#,
];

#[test]
fn requests_mean_the_same() {
    check(REQUESTS, |body| translate::request_anew(GEMINI, body.as_bytes()));
}

#[test]
fn answers_mean_the_same() {
    check(ANSWERS, |body| translate::response(GEMINI, GEMINI, body.as_bytes()));
}

fn check(bodies: &[&str], anew: impl Fn(&str) -> Result<(String, Report), Error>) {
    for body in bodies {
        let (once, report) = anew(body).expect("the body can be read");
        assert!(report.is_empty(), "{body}: {report:?}");
        let [before, after] = [*body, &once].map(parsed);
        let differences = meaning::unreported(GEMINI, &before, &after, &report);
        assert!(differences.is_empty(), "{body}\n{once}\n{differences:?}");
        let (twice, _) = anew(&once).expect("what was written can be read");
        assert_eq!(twice, once);
    }
}

fn parsed(body: &str) -> Value {
    serde_json::from_str(body).expect("the body is JSON")
}
