//! Long inputs of Gemini.

use super::{Row, Tables};

pub(super) const TABLES: Tables = Tables {
    requests: REQUESTS,
    minimal: (r#""contents""#, r#"[{"role":"user","parts":[{"text":"Hello."}]}]"#),
    tool: r#""tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":SCHEMA},{"name":"g","parameters":SCHEMA}]}]"#,
    output: r#""generationConfig":{"responseMimeType":"application/json","responseJsonSchema":SCHEMA}"#,
    responses: RESPONSES,
    streams: STREAMS,
};

const REQUESTS: &[Row] = &[
    ("users", r#""contents":[<<{"role":"user","parts":[{"text":"word §"}]}>>]"#),
    (
        "assistants",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},<<{"role":"model","parts":[{"text":"word §"}]}>>]"#,
    ),
    (
        "users-and-assistants",
        r#""contents":[<<{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"text":"a §"}]}>>]"#,
    ),
    (
        "users-and-systems",
        r#""contents":[<<{"role":"user","parts":[{"text":"q"}]},{"role":"system","parts":[{"text":"s §"}]}>>]"#,
    ),
    ("without-roles", r#""contents":[<<{"parts":[{"text":"q §"}]}>>]"#),
    (
        "without-parts",
        r#""contents":[{"role":"user","parts":[{"text":"q"}]},<<{"role":"user","parts":[]},{"role":"model"}>>]"#,
    ),
    ("blank-texts", r#""contents":[{"role":"user","parts":[{"text":"q"},<<{"text":""}>>]}]"#),
    ("system-parts", r#""systemInstruction":{"parts":[<<{"text":"rule §"}>>]}"#),
    ("texts", r#""contents":[{"role":"user","parts":[<<{"text":"word §"}>>]}]"#),
    (
        "texts-signed",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"text":"word §","thoughtSignature":"c2ln"}>>]}]"#,
    ),
    (
        "images",
        r#""contents":[{"role":"user","parts":[<<{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}>>]}]"#,
    ),
    (
        "audios",
        r#""contents":[{"role":"user","parts":[{"text":"a"},<<{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}}>>]}]"#,
    ),
    (
        "audio-messages",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},<<{"role":"user","parts":[{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}}]}>>]"#,
    ),
    (
        "videos",
        r#""contents":[{"role":"user","parts":[{"text":"a"},<<{"inlineData":{"mimeType":"video/mp4","data":"AAAA"},"videoMetadata":{"fps":§}}>>]}]"#,
    ),
    (
        "video-and-texts",
        r#""contents":[{"role":"user","parts":[<<{"inlineData":{"mimeType":"video/mp4","data":"AAAA"}},{"text":"t"}>>]}]"#,
    ),
    (
        "files",
        r#""contents":[{"role":"user","parts":[<<{"fileData":{"mimeType":"application/pdf","fileUri":"https://example.com/§.pdf"}}>>]}]"#,
    ),
    (
        "files-of-vendor",
        r#""contents":[{"role":"user","parts":[{"text":"a"},<<{"fileData":{"mimeType":"video/mp4","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/§"}}>>]}]"#,
    ),
    (
        "unknown-parts",
        r#""contents":[{"role":"user","parts":[{"text":"a"},<<{"sculpture":{"id":§}}>>]}]"#,
    ),
    (
        "thoughts",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"text":"t §","thought":true,"thoughtSignature":"c2ln"}>>,{"text":"b"}]}]"#,
    ),
    (
        "thoughts-and-texts",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"text":"t §","thought":true},{"text":"b","thoughtSignature":"c2ln"}>>]}]"#,
    ),
    (
        "calls",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"functionCall":{"id":"c§","name":"f","args":{}}}>>]},{"role":"user","parts":[<<{"functionResponse":{"id":"c§","name":"f","response":{"output":"r"}}}>>]}]"#,
    ),
    (
        "calls-without-ids",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"functionCall":{"name":"f","args":{}}}>>]},{"role":"user","parts":[<<{"functionResponse":{"name":"f","response":{"output":"r"}}}>>]}]"#,
    ),
    (
        "calls-without-ids-distinct",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"functionCall":{"name":"f§","args":{}}}>>]},{"role":"user","parts":[<<{"functionResponse":{"name":"f§","response":{"output":"r"}}}>>]}]"#,
    ),
    (
        "calls-without-ids-rounds",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},<<{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2ln"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}}]}>>]"#,
    ),
    (
        "calls-distinct-names",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"functionCall":{"id":"c§","name":"f§","args":{}}}>>]},{"role":"user","parts":[<<{"functionResponse":{"id":"c§","name":"f§","response":{"output":"r"}}}>>]}]"#,
    ),
    (
        "calls-illegal-names",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"functionCall":{"id":"c:!§","name":"f ü.§","args":{}}}>>]},{"role":"user","parts":[<<{"functionResponse":{"id":"c:!§","name":"f ü.§","response":{"output":"r"}}}>>]}]"#,
    ),
    (
        "calls-unanswered",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"functionCall":{"name":"f","args":{}}}>>]},{"role":"user","parts":[{"text":"b"}]}]"#,
    ),
    (
        "calls-unanswered-rounds",
        r#""contents":[<<{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f§","args":{}}}]}>>]"#,
    ),
    (
        "calls-answered-late",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},<<{"role":"model","parts":[{"functionCall":{"name":"f§","args":{}}}]}>>,<<{"role":"user","parts":[{"functionResponse":{"name":"f§","response":{"output":"r"}}}]}>>]"#,
    ),
    (
        "calls-reversed",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"functionCall":{"name":"f§","args":{}}}>>,<<{"functionCall":{"name":"g§","args":{}}}>>]},{"role":"user","parts":[<<{"functionResponse":{"name":"g§","response":{"output":"r"}}}>>,<<{"functionResponse":{"name":"f§","response":{"output":"r"}}}>>]}]"#,
    ),
    (
        "calls-same-id",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"functionCall":{"id":"c","name":"f","args":{}}}>>]},{"role":"user","parts":[<<{"functionResponse":{"id":"c","name":"f","response":{"output":"r"}}}>>]}]"#,
    ),
    (
        "calls-texts-between",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"functionCall":{"name":"f","args":{}}},{"text":"t"}>>]},{"role":"user","parts":[<<{"functionResponse":{"name":"f","response":{"output":"r"}}},{"text":"t"}>>]}]"#,
    ),
    (
        "calls-of-code",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}>>]}]"#,
    ),
    (
        "results-orphaned",
        r#""contents":[{"role":"user","parts":[{"text":"a"},<<{"functionResponse":{"name":"f§","response":{"output":"r"}}}>>]}]"#,
    ),
    (
        "results-members",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{<<"k§":1>>}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{<<"k§":1>>}}}]}]"#,
    ),
    (
        "results-parts",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"},"parts":[<<{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}>>]}}]}]"#,
    ),
    (
        "results-with-images",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[<<{"functionCall":{"id":"c§","name":"f","args":{}}}>>]},{"role":"user","parts":[<<{"functionResponse":{"id":"c§","name":"f","response":{"output":"r"},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}}>>]}]"#,
    ),
    (
        "tools",
        r#""tools":[{"functionDeclarations":[<<{"name":"f§","description":"d","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}}>>]}]"#,
    ),
    ("tools-in-many-lists", r#""tools":[<<{"functionDeclarations":[{"name":"f§"}],"key_§":1}>>]"#),
    ("tools-illegal-names", r#""tools":[{"functionDeclarations":[<<{"name":"f ü.§"}>>]}]"#),
    ("tools-same-name", r#""tools":[{"functionDeclarations":[<<{"name":"f"}>>]}]"#),
    (
        "tools-hosted",
        r#""tools":[<<{"googleSearch":{}},{"codeExecution":{}},{"urlContext":{}},{"sculpting§":{}}>>]"#,
    ),
    (
        "tools-hosted-in-one",
        r#""tools":[{<<"sculpting§":{}>>,"functionDeclarations":[{"name":"f"}]}]"#,
    ),
    (
        "tools-schemas",
        r#""tools":[{"functionDeclarations":[<<{"name":"f§","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true,"format":"enum","enum":["a"]}},"required":["a"]},"response":{"type":"STRING"}}>>]}]"#,
    ),
    (
        "tools-and-calls",
        r#""tools":[{"functionDeclarations":[<<{"name":"f ü.§"}>>]}],"contents":[{"role":"user","parts":[{"text":"a"}]},<<{"role":"model","parts":[{"functionCall":{"name":"f ü.§","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f ü.§","response":{"output":"r"}}}]}>>]"#,
    ),
    (
        "allowed-names",
        r#""tools":[{"functionDeclarations":[<<{"name":"f§"}>>]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":[<<"f§">>]}}"#,
    ),
    (
        "allowed-names-some",
        r#""tools":[{"functionDeclarations":[<<{"name":"f§"},{"name":"g§"}>>]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":[<<"f§">>]}}"#,
    ),
    (
        "allowed-names-unknown",
        r#""tools":[{"functionDeclarations":[<<{"name":"f§"}>>]}],"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":[<<"g§">>]}}"#,
    ),
    (
        "allowed-names-same",
        r#""tools":[{"functionDeclarations":[<<{"name":"f§"}>>]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":[<<"f1">>]}}"#,
    ),
    ("stops", r#""generationConfig":{"stopSequences":[<<"s§">>]}"#),
    (
        "safety-settings",
        r#""safetySettings":[<<{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}>>]"#,
    ),
    ("labels", r#""labels":{<<"k§":"v">>}"#),
    ("modalities", r#""generationConfig":{"responseModalities":[<<"TEXT">>]}"#),
    ("unknown-keys", r#"<<"key_§":{"a":1}>>"#),
    ("unknown-keys-same", r#"<<"key":{"a":1}>>"#),
    (
        "unknown-keys-snake",
        r#""contents":[{"role":"user","parts":[<<{"inline_data":{"mime_type":"image/png","data":"iVBORw0KGgo="}}>>]}],"system_instruction":{"parts":[<<{"text":"a"}>>]}"#,
    ),
    (
        "unknown-keys-of-content",
        r#""contents":[{"role":"user","parts":[{"text":"a"}],<<"key_§":1>>}]"#,
    ),
    (
        "unknown-keys-of-contents",
        r#""contents":[<<{"role":"user","parts":[{"text":"a","key_§":1}],"key_§":1}>>]"#,
    ),
    (
        "unknown-keys-of-part",
        r#""contents":[{"role":"user","parts":[{"text":"a",<<"key_§":1>>},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo=",<<"key_§":1>>}}]}]"#,
    ),
    (
        "unknown-keys-of-call",
        r#""contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{},<<"key_§":1>>},<<"key_§":1>>}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"},<<"key_§":1>>},<<"key_§":1>>}]}]"#,
    ),
    (
        "unknown-keys-of-settings",
        r#""generationConfig":{<<"key_§":1>>,"thinkingConfig":{"thinkingBudget":1,<<"key_§":1>>}},"toolConfig":{<<"key_§":1>>,"functionCallingConfig":{"mode":"AUTO",<<"key_§":1>>}},"systemInstruction":{"parts":[{"text":"s"}],<<"key_§":1>>}"#,
    ),
    ("same-fields", r#""generationConfig":{<<"temperature":0.§>>}"#),
    ("same-configs", r#"<<"generationConfig":{"temperature":0.§}>>"#),
    (
        "text-escapes",
        r#""contents":[{"role":"user","parts":[{"text":"<<a\n\"\u00e9\ud83d\ude00\ud83d>>"}]}]"#,
    ),
    (
        "data-url-safe",
        r#""contents":[{"role":"user","parts":[<<{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGg-_"}}>>]}]"#,
    ),
];

const RESPONSES: &[Row] = &[
    (
        "candidates",
        r#"{"candidates":[<<{"content":{"role":"model","parts":[{"text":"w"}]},"finishReason":"STOP","index":§}>>],"modelVersion":"m","responseId":"r"}"#,
    ),
    (
        "texts",
        r#"{"candidates":[{"content":{"role":"model","parts":[<<{"text":"w §"}>>]},"finishReason":"STOP"}],"modelVersion":"m"}"#,
    ),
    (
        "texts-signed",
        r#"{"candidates":[{"content":{"role":"model","parts":[<<{"text":"w §","thoughtSignature":"c2ln"}>>]},"finishReason":"STOP"}],"modelVersion":"m"}"#,
    ),
    (
        "thoughts",
        r#"{"candidates":[{"content":{"role":"model","parts":[<<{"text":"t","thought":true},{"text":"w §","thoughtSignature":"c2ln"}>>]},"finishReason":"STOP"}],"modelVersion":"m"}"#,
    ),
    (
        "calls",
        r#"{"candidates":[{"content":{"role":"model","parts":[<<{"functionCall":{"name":"f§","args":{"a":1}},"thoughtSignature":"c2ln"}>>]},"finishReason":"STOP"}],"modelVersion":"m"}"#,
    ),
    (
        "calls-with-ids",
        r#"{"candidates":[{"content":{"role":"model","parts":[<<{"functionCall":{"id":"c§","name":"f","args":{"a":1}}},{"text":"t"}>>]},"finishReason":"STOP"}],"modelVersion":"m"}"#,
    ),
    (
        "images",
        r#"{"candidates":[{"content":{"role":"model","parts":[<<{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"text":"t"}>>]},"finishReason":"STOP"}],"modelVersion":"m"}"#,
    ),
    (
        "code",
        r#"{"candidates":[{"content":{"role":"model","parts":[<<{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}>>]},"finishReason":"STOP"}],"modelVersion":"m"}"#,
    ),
    (
        "unknown-parts",
        r#"{"candidates":[{"content":{"role":"model","parts":[<<{"sculpture":{"id":§}}>>]},"finishReason":"STOP"}],"modelVersion":"m"}"#,
    ),
    (
        "grounding",
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"<<wörd>>"}]},"finishReason":"STOP","groundingMetadata":{"webSearchQueries":[<<"q§">>],"groundingChunks":[<<{"web":{"uri":"https://example.com/§","title":"t"}}>>],"groundingSupports":[<<{"segment":{"startIndex":§,"endIndex":§,"text":"w"},"groundingChunkIndices":[§],"confidenceScores":[0.5]}>>]}}],"modelVersion":"m"}"#,
    ),
    (
        "grounding-one-support",
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"<<wörd>>"}]},"finishReason":"STOP","groundingMetadata":{"groundingChunks":[<<{"web":{"uri":"https://example.com/§","title":"t"}}>>],"groundingSupports":[{"segment":{"startIndex":0,"endIndex":1,"text":"w"},"groundingChunkIndices":[<<§>>]}]}}],"modelVersion":"m"}"#,
    ),
    (
        "grounding-of-parts",
        r#"{"candidates":[{"content":{"role":"model","parts":[<<{"text":"wörd","thoughtSignature":"c2ln"}>>]},"finishReason":"STOP","groundingMetadata":{"groundingChunks":[<<{"web":{"uri":"https://example.com/§","title":"t"}}>>],"groundingSupports":[<<{"segment":{"partIndex":§,"startIndex":0,"endIndex":2,"text":"w"},"groundingChunkIndices":[§]}>>]}}],"modelVersion":"m"}"#,
    ),
    (
        "citations",
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"<<wörd>>"}]},"finishReason":"STOP","citationMetadata":{"citationSources":[<<{"startIndex":§,"endIndex":§,"uri":"https://example.com/§"}>>]}}],"modelVersion":"m"}"#,
    ),
    (
        "citations-other-name",
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"<<wörd>>"}]},"finishReason":"STOP","citationMetadata":{"citations":[<<{"startIndex":§,"endIndex":§,"uri":"https://example.com/§"}>>]}}],"modelVersion":"m"}"#,
    ),
    (
        "logprobs",
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"w"}]},"finishReason":"STOP","avgLogprobs":-0.1,"logprobsResult":{"chosenCandidates":[<<{"token":"t§","tokenId":§,"logProbability":-0.1}>>],"topCandidates":[<<{"candidates":[{"token":"t§","tokenId":§,"logProbability":-0.1}]}>>]}}],"modelVersion":"m"}"#,
    ),
    (
        "safety-ratings",
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"w"}]},"finishReason":"STOP","safetyRatings":[<<{"category":"HARM_CATEGORY_§","probability":"LOW"}>>]}],"promptFeedback":{"safetyRatings":[<<{"category":"HARM_CATEGORY_§","probability":"LOW"}>>]},"modelVersion":"m"}"#,
    ),
    (
        "usage-details",
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"w"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2,"promptTokensDetails":[<<{"modality":"TEXT","tokenCount":§}>>],<<"key_§":1>>},"modelVersion":"m"}"#,
    ),
    (
        "unknown-keys",
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"w",<<"key_§":1>>}],<<"key_§":1>>},"finishReason":"STOP",<<"key_§":1>>,"groundingMetadata":{<<"key_§":1>>}}],<<"key_§":1>>,"modelVersion":"m"}"#,
    ),
    (
        "unknown-keys-same",
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"w",<<"key":1>>}],<<"key":1>>},"finishReason":"STOP",<<"key":1>>}],<<"key":1>>,"modelVersion":"m"}"#,
    ),
    (
        "arguments-members",
        r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{<<"k§":1>>}}}]},"finishReason":"STOP"}],"modelVersion":"m"}"#,
    ),
];

const STREAMS: &[Row] = &[
    (
        "texts",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w§ "}]},"index":0}],"modelVersion":"m","responseId":"r"}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"totalTokenCount":2}}"#,
    ),
    (
        "texts-in-one",
        r#"
        {"candidates":[{"content":{"role":"model","parts":[<<{"text":"w§ "}>>]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"totalTokenCount":2}}"#,
    ),
    (
        "texts-signed",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w§ ","thoughtSignature":"c2ln"}]},"index":0}],"modelVersion":"m","responseId":"r"}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "thoughts",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w§ ","thought":true}]},"index":0}]}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "thoughts-and-texts",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w§ ","thought":true}]},"index":0}]}
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w§ "}]},"index":0}]}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "calls",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f§","args":{"a":1}}}]},"index":0}]}
        {"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "calls-with-ids",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"c§","name":"f","args":{"a":1}},"thoughtSignature":"c2ln"},{"text":"t"}]},"index":0}]}
        {"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "calls-in-one",
        r#"
        {"candidates":[{"content":{"role":"model","parts":[<<{"functionCall":{"name":"f§","args":{"a":1}}}>>]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "partial-args",
        r#"
        {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","willContinue":true}}]},"index":0}]}
        * {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"w§"}],"willContinue":true}}]},"index":0}]}
        {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{}}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "partial-args-by-turns",
        r#"
        {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"f","willContinue":true}},{"functionCall":{"id":"c2","name":"f","willContinue":true}}]},"index":0}]}
        * {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"c1","partialArgs":[{"jsonPath":"$.a","stringValue":"w§"}],"willContinue":true}}]},"index":0}]}
        * {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"c2","partialArgs":[{"jsonPath":"$.a§","numberValue":1}],"willContinue":true}}]},"index":0}]}
        {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"c2"}},{"functionCall":{"id":"c1"}}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "candidates",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w§ "}]},"index":§}]}
        --
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w§ "}]},"finishReason":"STOP","index":§}]}"#,
    ),
    (
        "candidates-in-one",
        r#"
        {"candidates":[<<{"content":{"role":"model","parts":[{"text":"w§ "}]},"index":§}>>]}
        {"candidates":[<<{"content":{"role":"model","parts":[{"text":"w§ "}]},"finishReason":"STOP","index":§}>>]}"#,
    ),
    (
        "candidates-by-turns",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w§ "}]},"index":0}]}
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w§ "}]},"index":1}]}
        {"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"STOP","index":0},{"content":{"role":"model","parts":[]},"finishReason":"STOP","index":1}]}"#,
    ),
    (
        "usages",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w§ "}]},"index":0}],"usageMetadata":{"promptTokenCount":1,"totalTokenCount":§,"key_§":1,"promptTokensDetails":[{"modality":"TEXT","tokenCount":§}]}}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "grounding",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"wörd "}]},"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://example.com/§","title":"t"}}],"groundingSupports":[{"segment":{"startIndex":§,"endIndex":§,"text":"w"},"groundingChunkIndices":[§]}]},"index":0}]}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "grounding-at-the-end",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"wörd "}]},"index":0}]}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0,"groundingMetadata":{"groundingChunks":[<<{"web":{"uri":"https://example.com/§","title":"t"}}>>],"groundingSupports":[<<{"segment":{"startIndex":§,"endIndex":§,"text":"w"},"groundingChunkIndices":[§]}>>]}}]}"#,
    ),
    (
        "citations",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"wörd "}]},"citationMetadata":{"citationSources":[{"startIndex":§,"endIndex":§,"uri":"https://example.com/§"}]},"index":0}]}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "logprobs",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w"}]},"logprobsResult":{"chosenCandidates":[{"token":"t§","tokenId":§,"logProbability":-0.1}],"topCandidates":[{"candidates":[{"token":"t§","tokenId":§,"logProbability":-0.1}]}],"key_§":1},"index":0}]}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "safety-ratings",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w"}]},"safetyRatings":[{"category":"HARM_§","probability":"LOW"}],"index":0}],"promptFeedback":{"safetyRatings":[{"category":"HARM_§","probability":"LOW"}]}}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "unknown-keys",
        r#"
        {"candidates":[{"content":{"role":"model","parts":[{"text":"w",<<"key_§":1>>}],<<"key_§":1>>},"index":0,<<"key_§":1>>}],<<"key_§":1>>}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "unknown-keys-of-each",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w","key_§":1}],"key_§":1},"index":0,"key_§":1}],"key_§":1}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "unknown-keys-same",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"text":"w","key":§}],"key":§},"index":0,"key":§}],"key":§}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "unknown-parts",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"sculpture":{"id":§}}]},"index":0}]}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "images",
        r#"
        * {"candidates":[{"content":{"role":"model","parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]},"index":0}]}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
    (
        "empty-chunks",
        r#"
        * {"candidates":[]}
        * {"candidates":[{"index":0}]}
        * {"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"index":0}]}
        {"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}]}"#,
    ),
];
