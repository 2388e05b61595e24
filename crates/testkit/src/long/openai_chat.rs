//! Long inputs of OpenAI Chat.

mod streams;

use super::{Row, Tables};
use streams::STREAMS;

pub(super) const TABLES: Tables = Tables {
    requests: REQUESTS,
    minimal: (r#""messages""#, r#"[{"role":"user","content":"Hello."}]"#),
    tool: r#""tools":[{"type":"function","function":{"name":"f","parameters":SCHEMA}},{"type":"function","function":{"name":"g","strict":true,"parameters":SCHEMA}}]"#,
    output: r#""response_format":{"type":"json_schema","json_schema":{"name":"out","strict":true,"schema":SCHEMA}}"#,
    responses: RESPONSES,
    streams: STREAMS,
};

const REQUESTS: &[Row] = &[
    ("users", r#""messages":[<<{"role":"user","content":"word §"}>>]"#),
    (
        "assistants",
        r#""messages":[{"role":"user","content":"a"},<<{"role":"assistant","content":"word §"}>>]"#,
    ),
    (
        "systems",
        r#""messages":[<<{"role":"system","content":"rule §"}>>,{"role":"user","content":"a"}]"#,
    ),
    ("systems-only", r#""messages":[<<{"role":"developer","content":"rule §"}>>]"#),
    (
        "systems-behind",
        r#""messages":[{"role":"user","content":"a"},<<{"role":"system","content":"rule §"}>>]"#,
    ),
    (
        "users-and-assistants",
        r#""messages":[<<{"role":"user","content":"q"},{"role":"assistant","content":"a §"}>>,{"role":"user","content":"q"}]"#,
    ),
    (
        "assistants-first",
        r#""messages":[<<{"role":"assistant","content":"a"},{"role":"user","content":"q §"}>>]"#,
    ),
    (
        "users-and-systems",
        r#""messages":[<<{"role":"user","content":"q"},{"role":"system","content":"s §"}>>]"#,
    ),
    (
        "systems-and-assistants",
        r#""messages":[{"role":"user","content":"q"},<<{"role":"system","content":"s §"},{"role":"assistant","content":"a"}>>]"#,
    ),
    (
        "blank-users",
        r#""messages":[{"role":"user","content":"a"},<<{"role":"user","content":""}>>]"#,
    ),
    (
        "blank-assistants",
        r#""messages":[{"role":"user","content":"a"},<<{"role":"assistant","content":" "},{"role":"user","content":"b"}>>]"#,
    ),
    (
        "blank-between",
        r#""messages":[<<{"role":"user","content":"a"},{"role":"assistant","content":null}>>]"#,
    ),
    ("named-speakers", r#""messages":[<<{"role":"user","name":"n§","content":"a"}>>]"#),
    ("quotation-marks", r#""messages":[{"role":"user","content":"<<“联网搜>>"}]"#),
    ("texts", r#""messages":[{"role":"user","content":[<<{"type":"text","text":"word §"}>>]}]"#),
    (
        "texts-blank",
        r#""messages":[{"role":"user","content":[{"type":"text","text":"a"},<<{"type":"text","text":""}>>]}]"#,
    ),
    (
        "texts-of-assistant",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","content":[<<{"type":"text","text":"word §"},{"type":"refusal","refusal":"no"}>>]}]"#,
    ),
    (
        "texts-of-system",
        r#""messages":[{"role":"system","content":[<<{"type":"text","text":"word §"}>>]},{"role":"user","content":"a"}]"#,
    ),
    (
        "cached-texts",
        r#""messages":[{"role":"user","content":[<<{"type":"text","text":"word §","cache_control":{"type":"ephemeral"}}>>]}]"#,
    ),
    (
        "cached-systems",
        r#""messages":[<<{"role":"system","content":[{"type":"text","text":"word §","cache_control":{"type":"ephemeral"}}]}>>,{"role":"user","content":"a"}]"#,
    ),
    (
        "images",
        r#""messages":[{"role":"user","content":[<<{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo=","detail":"low"}}>>]}]"#,
    ),
    (
        "image-urls",
        r#""messages":[{"role":"user","content":[<<{"type":"image_url","image_url":{"url":"https://example.com/§.png"}}>>]}]"#,
    ),
    (
        "image-messages",
        r#""messages":[<<{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/§.png"}}]}>>]"#,
    ),
    (
        "audios",
        r#""messages":[{"role":"user","content":[<<{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}>>]}]"#,
    ),
    (
        "audio-messages",
        r#""messages":[<<{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}]}>>]"#,
    ),
    (
        "audios-between",
        r#""messages":[{"role":"user","content":[<<{"type":"text","text":"t"},{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}>>]}]"#,
    ),
    (
        "videos",
        r#""messages":[{"role":"user","content":[<<{"type":"video_url","video_url":{"url":"https://example.com/§.mp4"}}>>]}]"#,
    ),
    (
        "files",
        r#""messages":[{"role":"user","content":[<<{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERi0=","filename":"f§.pdf"}}>>]}]"#,
    ),
    (
        "file-ids",
        r#""messages":[{"role":"user","content":[<<{"type":"file","file":{"file_id":"file-§"}}>>]}]"#,
    ),
    (
        "files-of-words",
        r#""messages":[{"role":"user","content":[<<{"type":"file","file":{"file_data":"data:text/plain;base64,SGVsbG8=","filename":"f§.txt"}}>>]}]"#,
    ),
    (
        "unknown-parts",
        r#""messages":[{"role":"user","content":[{"type":"text","text":"a"},<<{"type":"sculpture","id":"§"}>>]}]"#,
    ),
    (
        "unknown-part-messages",
        r#""messages":[{"role":"user","content":"a"},<<{"role":"user","content":[{"type":"sculpture","id":"§"}]}>>]"#,
    ),
    (
        "calls",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[<<{"id":"c§","type":"function","function":{"name":"f","arguments":"{}"}}>>]},<<{"role":"tool","tool_call_id":"c§","content":"r"}>>],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]"#,
    ),
    (
        "calls-distinct-names",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[<<{"id":"c§","type":"function","function":{"name":"f§","arguments":"{}"}}>>]},<<{"role":"tool","tool_call_id":"c§","content":"r"}>>]"#,
    ),
    (
        "calls-illegal-names",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[<<{"id":"c:§!","type":"function","function":{"name":"f ü.§","arguments":"{}"}}>>]},<<{"role":"tool","tool_call_id":"c:§!","content":"r"}>>]"#,
    ),
    (
        "calls-unanswered",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[<<{"id":"c§","type":"function","function":{"name":"f","arguments":"{}"}}>>]}]"#,
    ),
    (
        "calls-unanswered-rounds",
        r#""messages":[{"role":"user","content":"a"},<<{"role":"assistant","tool_calls":[{"id":"c§","type":"function","function":{"name":"f","arguments":"{}"}}]}>>,{"role":"user","content":"b"}]"#,
    ),
    (
        "calls-unanswered-between",
        r#""messages":[<<{"role":"user","content":"a"},{"role":"assistant","content":"t","tool_calls":[{"id":"c§","type":"function","function":{"name":"f§","arguments":"{}"}}]}>>]"#,
    ),
    (
        "calls-answered-late",
        r#""messages":[{"role":"user","content":"a"},<<{"role":"assistant","tool_calls":[{"id":"c§","type":"function","function":{"name":"f","arguments":"{}"}}]}>>,<<{"role":"tool","tool_call_id":"c§","content":"r"}>>]"#,
    ),
    (
        "calls-same-id",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[<<{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}>>]},<<{"role":"tool","tool_call_id":"c","content":"r"}>>]"#,
    ),
    (
        "calls-same-id-rounds",
        r#""messages":[{"role":"user","content":"a"},<<{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}>>]"#,
    ),
    (
        "calls-reversed",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[<<{"id":"c§","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"d§","type":"function","function":{"name":"f","arguments":"{}"}}>>]},<<{"role":"tool","tool_call_id":"d§","content":"r"}>>,<<{"role":"tool","tool_call_id":"c§","content":"r"}>>]"#,
    ),
    (
        "calls-rounds",
        r#""messages":[{"role":"user","content":"a"},<<{"role":"assistant","tool_calls":[{"id":"c§","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c§","content":"r"}>>]"#,
    ),
    (
        "calls-rounds-with-users",
        r#""messages":[<<{"role":"user","content":"a"},{"role":"assistant","content":"t","tool_calls":[{"id":"c§","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c§","content":"r"},{"role":"assistant","content":"b"}>>]"#,
    ),
    (
        "calls-without-ids",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[<<{"type":"function","function":{"name":"f","arguments":"{}"}}>>]},<<{"role":"tool","content":"r"}>>]"#,
    ),
    (
        "calls-without-ids-rounds",
        r#""messages":[{"role":"user","content":"a"},<<{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f§","arguments":"{}"}}]},{"role":"tool","name":"f§","content":"r"}>>]"#,
    ),
    (
        "calls-custom",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[<<{"id":"c§","type":"custom","custom":{"name":"f","input":"in"}}>>]},<<{"role":"tool","tool_call_id":"c§","content":"r"}>>]"#,
    ),
    (
        "calls-deprecated",
        r#""messages":[{"role":"user","content":"a"},<<{"role":"assistant","content":null,"function_call":{"name":"f§","arguments":"{}"}},{"role":"function","name":"f§","content":"r"}>>]"#,
    ),
    (
        "calls-systems-among-results",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[<<{"id":"c§","type":"function","function":{"name":"f","arguments":"{}"}}>>]},<<{"role":"tool","tool_call_id":"c§","content":"r"},{"role":"system","content":"s"}>>]"#,
    ),
    (
        "calls-users-among-results",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[<<{"id":"c§","type":"function","function":{"name":"f","arguments":"{}"}}>>]},<<{"role":"tool","tool_call_id":"c§","content":"r"},{"role":"user","content":"s"}>>]"#,
    ),
    (
        "calls-systems-between-rounds",
        r#""messages":[{"role":"user","content":"a"},<<{"role":"assistant","tool_calls":[{"id":"c§","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c§","content":"r"},{"role":"system","content":"s §"}>>]"#,
    ),
    (
        "results-orphaned",
        r#""messages":[{"role":"user","content":"a"},<<{"role":"tool","tool_call_id":"c§","content":"r"}>>]"#,
    ),
    (
        "results-orphaned-between",
        r#""messages":[<<{"role":"user","content":"a"},{"role":"tool","tool_call_id":"c§","content":"r"}>>]"#,
    ),
    (
        "results-of-one-call",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},<<{"role":"tool","tool_call_id":"c","content":"r §"}>>]"#,
    ),
    (
        "results-of-texts",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":[<<{"type":"text","text":"r §"}>>]}]"#,
    ),
    (
        "results-of-images",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":[<<{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}>>]}]"#,
    ),
    (
        "results-with-images",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[<<{"id":"c§","type":"function","function":{"name":"f","arguments":"{}"}}>>]},<<{"role":"tool","tool_call_id":"c§","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}>>]"#,
    ),
    (
        "arguments-members",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{<<\"k§\":1>>}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]"#,
    ),
    (
        "arguments-same-members",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{<<\"k\":1>>}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]"#,
    ),
    (
        "arguments-list",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"[<<1>>]"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]"#,
    ),
    (
        "arguments-no-json",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{<<\"k§\":>>"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]"#,
    ),
    (
        "arguments-escapes",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"k\":\"<<\\n\\\"\\u00e9>>\"}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]"#,
    ),
    (
        "arguments-object",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":{<<"k§":1>>}}}]},{"role":"tool","tool_call_id":"c","content":"r"}]"#,
    ),
    (
        "text-escapes",
        r#""messages":[{"role":"user","content":"<<a\n\"\u00e9\ud83d\ude00\ud83d>>"}]"#,
    ),
    (
        "thoughts",
        r#""messages":[<<{"role":"user","content":"a"},{"role":"assistant","content":"b","reasoning_content":"r §"}>>]"#,
    ),
    (
        "thought-details",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","reasoning_details":[<<{"type":"reasoning.text","text":"r","signature":"s§"}>>]}]"#,
    ),
    (
        "thinking-blocks",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","thinking_blocks":[<<{"type":"thinking","thinking":"r","signature":"s§"}>>]}]"#,
    ),
    (
        "tools",
        r#""tools":[<<{"type":"function","function":{"name":"f§","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}}>>]"#,
    ),
    (
        "tools-illegal-names",
        r#""tools":[<<{"type":"function","function":{"name":"f ü.§","parameters":{"type":"object","properties":{}}}}>>]"#,
    ),
    (
        "tools-same-name",
        r#""tools":[<<{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}>>]"#,
    ),
    (
        "tools-cached",
        r#""tools":[<<{"type":"function","function":{"name":"f§","parameters":{"type":"object","properties":{}}},"cache_control":{"type":"ephemeral"}}>>]"#,
    ),
    (
        "tools-custom",
        r#""tools":[<<{"type":"custom","custom":{"name":"f§","format":{"type":"text"}}}>>]"#,
    ),
    ("tools-hosted", r#""tools":[<<{"type":"hosted_§"}>>]"#),
    (
        "tools-functions",
        r#""functions":[<<{"name":"f§","parameters":{"type":"object","properties":{}}}>>]"#,
    ),
    ("tools-without-parameters", r#""tools":[<<{"type":"function","function":{"name":"f§"}}>>]"#),
    (
        "tools-unknown-keys",
        r#""tools":[<<{"type":"function","x":1,"function":{"name":"f§","y":2}}>>]"#,
    ),
    (
        "tools-and-calls",
        r#""tools":[<<{"type":"function","function":{"name":"f ü.§"}}>>],"messages":[{"role":"user","content":"a"},<<{"role":"assistant","tool_calls":[{"id":"c§","type":"function","function":{"name":"f ü.§","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c§","content":"r"}>>]"#,
    ),
    (
        "allowed-tools",
        r#""tools":[<<{"type":"function","function":{"name":"f§"}}>>],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[<<{"type":"function","function":{"name":"f§"}}>>]}}"#,
    ),
    (
        "allowed-tools-required",
        r#""tools":[<<{"type":"function","function":{"name":"f§"}}>>,{"type":"function","function":{"name":"other"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[<<{"type":"function","function":{"name":"f§"}}>>]}}"#,
    ),
    (
        "allowed-tools-unknown",
        r#""tools":[<<{"type":"function","function":{"name":"f§"}}>>],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[<<{"type":"function","function":{"name":"g§"}}>>]}}"#,
    ),
    ("stops", r#""stop":[<<"s§">>]"#),
    ("stops-blank", r#""stop":[<<" ">>]"#),
    ("metadata", r#""metadata":{<<"k§":"v">>}"#),
    ("metadata-same-keys", r#""metadata":{<<"k":"v">>}"#),
    ("logit-bias", r#""logit_bias":{<<"§":1>>}"#),
    ("modalities", r#""modalities":[<<"text">>]"#),
    ("unknown-keys", r#"<<"key_§":{"a":1}>>"#),
    ("unknown-keys-same", r#"<<"key":{"a":1}>>"#),
    ("unknown-keys-of-message", r#""messages":[{"role":"user","content":"a",<<"key_§":1>>}]"#),
    ("unknown-keys-of-message-same", r#""messages":[{"role":"user","content":"a",<<"key":1>>}]"#),
    ("unknown-keys-of-messages", r#""messages":[<<{"role":"user","content":"a","key_§":1}>>]"#),
    (
        "unknown-keys-of-part",
        r#""messages":[{"role":"user","content":[{"type":"text","text":"a",<<"key_§":1>>}]}]"#,
    ),
    (
        "unknown-keys-of-image",
        r#""messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png",<<"key_§":1>>}}]}]"#,
    ),
    (
        "unknown-keys-of-call",
        r#""messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}",<<"key_§":1>>}}]},{"role":"tool","tool_call_id":"c","content":"r"}]"#,
    ),
    (
        "unknown-keys-of-tool",
        r#""tools":[{"type":"function","function":{"name":"f",<<"key_§":1>>}}]"#,
    ),
    (
        "unknown-keys-of-settings",
        r#""response_format":{"type":"json_object",<<"key_§":1>>},"stream_options":{<<"key_§":1>>},"reasoning":{"effort":"low",<<"key_§":1>>}"#,
    ),
    ("same-fields", r#"<<"temperature":0.§>>"#),
    ("same-lists", r#"<<"messages":[{"role":"user","content":"a §"}]>>"#),
    ("web-search-options", r#""web_search_options":{"search_context_size":"low",<<"key_§":1>>}"#),
];

const RESPONSES: &[Row] = &[
    (
        "choices",
        r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[<<{"index":§,"message":{"role":"assistant","content":"w"},"finish_reason":"stop"}>>]}"#,
    ),
    (
        "choices-same-index",
        r#"{"id":"c","model":"m","choices":[<<{"index":0,"message":{"role":"assistant","content":"w"},"finish_reason":"stop"}>>]}"#,
    ),
    (
        "calls",
        r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[<<{"id":"c§","type":"function","function":{"name":"f§","arguments":"{\"a\":1}"}}>>]},"finish_reason":"tool_calls"}]}"#,
    ),
    (
        "calls-same-id",
        r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","tool_calls":[<<{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}>>]},"finish_reason":"tool_calls"}]}"#,
    ),
    (
        "calls-no-json",
        r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","tool_calls":[<<{"id":"c§","type":"function","function":{"name":"f","arguments":"{\"a"}}>>]},"finish_reason":"tool_calls"}]}"#,
    ),
    (
        "arguments-members",
        r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{<<\"k§\":1>>}"}}]},"finish_reason":"tool_calls"}]}"#,
    ),
    (
        "annotations",
        r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"<<word é>>","annotations":[<<{"type":"url_citation","url_citation":{"url":"https://example.com/§","title":"t","start_index":§,"end_index":§}}>>]},"finish_reason":"stop"}]}"#,
    ),
    (
        "citations",
        r#"{"id":"c","model":"m","citations":[<<"https://example.com/§">>],"search_results":[<<{"url":"https://example.com/§","title":"t"}>>],"choices":[{"index":0,"message":{"role":"assistant","content":"w [1]"},"finish_reason":"stop"}]}"#,
    ),
    (
        "texts",
        r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":[<<{"type":"text","text":"t §"}>>]},"finish_reason":"stop"}]}"#,
    ),
    (
        "reasoning-details",
        r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"w","reasoning_details":[<<{"type":"reasoning.text","text":"t §","signature":"s"}>>]},"finish_reason":"stop"}]}"#,
    ),
    (
        "logprobs",
        r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"w"},"logprobs":{"content":[<<{"token":"t§","logprob":-0.1,"bytes":[1],"top_logprobs":[{"token":"t§","logprob":-0.1,"bytes":[1]}]}>>],"refusal":null},"finish_reason":"stop"}]}"#,
    ),
    (
        "logprobs-top",
        r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"w"},"logprobs":{"content":[{"token":"t","logprob":-0.1,"bytes":[1],"top_logprobs":[<<{"token":"t§","logprob":-0.1,"bytes":[1]}>>]}]},"finish_reason":"stop"}]}"#,
    ),
    (
        "logprobs-unknown-keys",
        r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"w"},"logprobs":{"content":[{"token":"t","logprob":-0.1,"bytes":[1],"top_logprobs":[]}],<<"key_§":1>>},"finish_reason":"stop"}]}"#,
    ),
    (
        "unknown-keys",
        r#"{"id":"c","model":"m",<<"key_§":1>>,"choices":[{"index":0,"message":{"role":"assistant","content":"w"},"finish_reason":"stop"}]}"#,
    ),
    (
        "unknown-keys-same",
        r#"{"id":"c","model":"m",<<"key":1>>,"choices":[{"index":0,"message":{"role":"assistant","content":"w"},"finish_reason":"stop"}]}"#,
    ),
    (
        "unknown-keys-below",
        r#"{"id":"c","model":"m","choices":[{"index":0,<<"key_§":1>>,"message":{"role":"assistant","content":"w",<<"key_§":1>>},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2,<<"key_§":1>>}}"#,
    ),
    (
        "usage-details",
        r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"w"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2,"prompt_tokens_details":{"cached_tokens":0,<<"key_§":1>>},"completion_tokens_details":{<<"key_§":1>>}}}"#,
    ),
    (
        "same-fields",
        r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant",<<"content":"w§">>},"finish_reason":"stop"}]}"#,
    ),
    (
        "escapes",
        r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"<<a\n\"\u00e9\ud83d>>"},"finish_reason":"stop"}]}"#,
    ),
];
