//! Requests of this protocol, read and written.

use super::*;
use crate::conversation::{
    Content, MediaKind, OutputFormat, Role, ThinkingMode, ToolChoice, ToolKind,
};
use crate::target::Target;

#[test]
fn wrong_types_are_refused_with_their_place() {
    let cases = [
        (r#"{"contents":[{"parts":[{"text":1}]}]}"#, "/contents/0/parts/0/text"),
        (r#"{"contents":"hi"}"#, "/contents"),
        (r#"{"generationConfig":{"topP":true}}"#, "/generationConfig/topP"),
        (r#"{"generationConfig":{"temperature":"hot"}}"#, "/generationConfig/temperature"),
        (r#"{"generationConfig":{"topK":" 4"}}"#, "/generationConfig/topK"),
        (r#"{"tools":[{"functionDeclarations":[{}]}]}"#, "/tools/0/functionDeclarations/0"),
        (r#"{"contents":[{"parts":[{"functionCall":5}]}]}"#, "/contents/0/parts/0/functionCall"),
    ];
    check_refused(SELF, &cases);
}

#[test]
fn both_spellings_mean_the_same() {
    let body = r#"{"system_instruction":{"parts":[{"text":"s"}]},
        "contents":[{"parts":[{"inline_data":{"mime_type":"audio/wav","data":"AAAA"}}]}],
        "generation_config":{"max_output_tokens":9,"thinking_config":{"thinking_level":"HIGH"}},
        "tools":[{"function_declarations":[{"name":"f"}]}],
        "tool_config":{"function_calling_config":{"mode":"ANY","allowed_function_names":["f"]}}}"#;
    let request = SELF.decode_request(body.as_bytes()).unwrap().request;
    assert_eq!(request.messages[0].role, Role::System);
    let Content::Media(media) = request.messages[1].parts[0].content() else { panic!("no media") };
    assert_eq!(media.kind, MediaKind::Audio);
    assert_eq!(request.max_output_tokens.unwrap().as_str(), "9");
    assert_eq!(request.thinking.effort.unwrap(), "high");
    assert!(matches!(&request.tools[0].kind, ToolKind::Function(tool) if tool.name == "f"));
    assert!(matches!(request.tool_choice, Some(ToolChoice::Named { name, .. }) if name == "f"));
}

#[test]
fn numbers_in_texts_are_numbers() {
    let body = r#"{"generation_config":{"temperature":"0.50","topP":0.9,"top_k":"4","maxOutputTokens":"2e1"}}"#;
    let request = SELF.decode_request(body.as_bytes()).unwrap().request;
    assert_eq!(request.sampling.temperature.unwrap().as_str(), "0.50");
    assert_eq!(request.sampling.top_k.unwrap().as_str(), "4");
    assert_eq!(request.max_output_tokens.unwrap().as_str(), "2e1");
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
        assert_eq!(SELF.decode_request(body.as_bytes()).unwrap().request.thinking.mode, mode);
    }
}

#[test]
fn types_and_schemas_make_the_output_format() {
    let format = |config: &str| {
        let body = format!(r#"{{"generationConfig":{config}}}"#);
        let request = SELF.decode_request(body.as_bytes()).unwrap().into_owned().request;
        request.output
    };
    assert!(matches!(format("{}"), OutputFormat::Unset));
    assert!(matches!(format(r#"{"responseMimeType":"text/plain"}"#), OutputFormat::Text));
    let json = r#"{"responseMimeType":"application/json"}"#;
    assert!(matches!(format(json), OutputFormat::JsonObject));
    let schema = r#"{"responseMimeType":"application/json","responseSchema":{}}"#;
    assert!(matches!(format(schema), OutputFormat::JsonSchema(_)));
    assert!(matches!(format(r#"{"responseMimeType":"text/x.enum"}"#), OutputFormat::Unset));
}

#[test]
fn a_foreign_signature_is_withheld_even_from_its_own_protocol() {
    let body = r#"{"contents":[{"role":"model","parts":[{"text":"t","thought":true},
        {"text":"","thought":true,"thoughtSignature":"sabir1:anthropic-messages:signature:x"}]}]}"#;
    let decoded = SELF.decode_request(body.as_bytes()).unwrap();
    let thought = &decoded.request.messages[0].parts[0];
    assert_eq!(thought.semantics().artefact().unwrap().data(), &"x");
    let encoded = decoded.encode(SELF, &Target::default()).unwrap();
    assert!(!encoded.body.contains("sabir1"));
    assert_eq!(listed(&encoded.report), ["withheld /contents/0/parts/1/thoughtSignature"]);
    let decoded = body.replace("thoughtSignature", "thought_signature");
    let decoded = SELF.decode_request(decoded.as_bytes()).unwrap();
    let encoded = decoded.encode(SELF, &Target::default()).unwrap();
    assert_eq!(listed(&encoded.report), ["withheld /contents/0/parts/1/thought_signature"]);
}
