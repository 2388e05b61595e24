//! Requests of this protocol, read and written.

use super::GEMINI;
use super::value;
use crate::conversation::Content;
use crate::conversation::MediaKind;
use crate::conversation::OutputFormat;
use crate::conversation::Role;
use crate::conversation::ThinkingMode;
use crate::conversation::ToolChoice;
use crate::conversation::ToolKind;
use crate::target::Target;

fn back(body: &str) -> String {
    let exchange = GEMINI.decode_request(body.as_bytes()).unwrap();
    let encoded = exchange.encode(GEMINI, &Target::default()).unwrap();
    assert!(encoded.report.is_empty(), "{:?}", encoded.report);
    encoded.body
}

#[test]
fn every_spelling_comes_back() {
    let bodies = [
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
    ];
    for body in bodies {
        assert_eq!(value(&back(body)), value(body), "{body}");
    }
}

#[test]
fn wrong_types_are_refused_with_their_place() {
    let cases = [
        (r#"{"contents":[{"parts":[{"text":1}]}]}"#, "/contents/0/parts/0/text"),
        (r#"{"contents":"hi"}"#, "/contents"),
        (r#"{"generationConfig":{"topP":true}}"#, "/generationConfig/topP"),
        (r#"{"generationConfig":{"temperature":"hot"}}"#, "/generationConfig/temperature"),
        (r#"{"generationConfig":{"topK":" 4"}}"#, "/generationConfig/topK"),
        (r#"{"tools":[{"functionDeclarations":[{}]}]}"#, "/tools/0/functionDeclarations/0"),
        (r#"{"contents":[{"parts":[{"functionCall":{}}]}]}"#, "/contents/0/parts/0/functionCall"),
    ];
    for (body, pointer) in cases {
        assert_eq!(GEMINI.decode_request(body.as_bytes()).unwrap_err().pointer(), pointer);
    }
}

#[test]
fn both_spellings_mean_the_same() {
    let body = r#"{"system_instruction":{"parts":[{"text":"s"}]},
        "contents":[{"parts":[{"inline_data":{"mime_type":"audio/wav","data":"AAAA"}}]}],
        "generation_config":{"max_output_tokens":9,"thinking_config":{"thinking_level":"HIGH"}},
        "tools":[{"function_declarations":[{"name":"f"}]}],
        "tool_config":{"function_calling_config":{"mode":"ANY","allowed_function_names":["f"]}}}"#;
    let request = GEMINI.decode_request(body.as_bytes()).unwrap().request;
    assert_eq!(request.messages[0].role, Role::System);
    let Content::Media(media) = request.messages[1].parts[0].content() else { panic!("no media") };
    assert_eq!(media.kind, MediaKind::Audio);
    assert_eq!(request.max_output_tokens.unwrap().as_str(), "9");
    assert_eq!(request.thinking.effort.unwrap(), "high");
    assert!(matches!(&request.tools[0].kind, ToolKind::Function(tool) if tool.name == "f"));
    assert!(matches!(request.tool_choice, Some(ToolChoice::Named { name, .. }) if name == "f"));
}

#[test]
fn numbers_in_texts_are_numbers_and_stay_texts_at_home() {
    let body = r#"{"generation_config":{"temperature":"0.50","topP":0.9,"top_k":"4","maxOutputTokens":"2e1"}}"#;
    let request = GEMINI.decode_request(body.as_bytes()).unwrap().request;
    assert_eq!(request.sampling.temperature.unwrap().as_str(), "0.50");
    assert_eq!(request.sampling.top_k.unwrap().as_str(), "4");
    assert_eq!(request.max_output_tokens.unwrap().as_str(), "2e1");
    assert_eq!(value(&back(body)), value(body));
    for budget in ["0", "-1", "128"] {
        let body = format!(
            r#"{{"generationConfig":{{"thinkingConfig":{{"thinkingBudget":"{budget}"}}}}}}"#
        );
        assert_eq!(value(&back(&body)), value(&body));
    }
}

#[test]
fn budgets_say_on_off_and_by_itself() {
    let cases = [
        ("0", Some(ThinkingMode::Disabled)),
        ("-1", Some(ThinkingMode::Adaptive)),
        ("128", Some(ThinkingMode::Enabled)),
        ("\"-1\"", Some(ThinkingMode::Adaptive)),
    ];
    for (budget, mode) in cases {
        let body =
            format!(r#"{{"generationConfig":{{"thinkingConfig":{{"thinkingBudget":{budget}}}}}}}"#);
        assert_eq!(GEMINI.decode_request(body.as_bytes()).unwrap().request.thinking.mode, mode);
    }
}

#[test]
fn types_and_schemas_make_the_output_format() {
    let format = |config: &str| {
        let body = format!(r#"{{"generationConfig":{config}}}"#);
        let request = GEMINI.decode_request(body.as_bytes()).unwrap().into_owned().request;
        request.output
    };
    assert!(matches!(format("{}"), OutputFormat::Unsaid));
    assert!(matches!(format(r#"{"responseMimeType":"text/plain"}"#), OutputFormat::Text));
    let json = r#"{"responseMimeType":"application/json"}"#;
    assert!(matches!(format(json), OutputFormat::JsonObject));
    let schema = r#"{"responseMimeType":"application/json","responseSchema":{}}"#;
    assert!(matches!(format(schema), OutputFormat::JsonSchema(_)));
    assert!(matches!(format(r#"{"responseMimeType":"text/x.enum"}"#), OutputFormat::Unsaid));
}

#[test]
fn a_foreign_signature_is_withheld_even_from_its_own_protocol() {
    let body = r#"{"contents":[{"role":"model","parts":[{"text":"t","thought":true},
        {"text":"","thought":true,"thoughtSignature":"sabir1:anthropic-messages:signature:x"}]}]}"#;
    let exchange = GEMINI.decode_request(body.as_bytes()).unwrap();
    let thought = &exchange.request.messages[0].parts[0];
    assert_eq!(thought.semantics().artefact().unwrap().data(), &"x");
    let encoded = exchange.encode(GEMINI, &Target::default()).unwrap();
    assert!(!encoded.body.contains("sabir1"));
    assert_eq!(super::told(&encoded.report), ["withheld /contents/0/parts/0/thoughtSignature"]);
}
