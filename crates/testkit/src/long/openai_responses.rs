//! Long inputs of OpenAI Responses.

use super::{Row, Tables};

pub(super) const TABLES: Tables = Tables {
    requests: REQUESTS,
    minimal: (r#""input""#, r#""Hello.""#),
    tool: r#""tools":[{"type":"function","name":"f","strict":false,"parameters":SCHEMA},{"type":"function","name":"g","strict":true,"parameters":SCHEMA}]"#,
    output: r#""text":{"format":{"type":"json_schema","name":"out","strict":true,"schema":SCHEMA}}"#,
    responses: RESPONSES,
    streams: STREAMS,
};

const REQUESTS: &[Row] = &[
    ("users", r#""input":[<<{"role":"user","content":"word §"}>>]"#),
    (
        "assistants",
        r#""input":[{"role":"user","content":"a"},<<{"type":"message","role":"assistant","content":[{"type":"output_text","text":"w §","annotations":[]}]}>>]"#,
    ),
    (
        "systems",
        r#""input":[<<{"role":"system","content":"rule §"}>>,{"role":"user","content":"a"}]"#,
    ),
    (
        "systems-behind",
        r#""input":[{"role":"user","content":"a"},<<{"role":"developer","content":"rule §"}>>]"#,
    ),
    (
        "users-and-assistants",
        r#""input":[<<{"role":"user","content":"q"},{"role":"assistant","content":"a §"}>>]"#,
    ),
    (
        "users-and-systems",
        r#""input":[<<{"role":"user","content":"q"},{"role":"system","content":"s §"}>>]"#,
    ),
    ("blank-users", r#""input":[{"role":"user","content":"a"},<<{"role":"user","content":""}>>]"#),
    (
        "instructions-and-systems",
        r#""instructions":"i","input":[<<{"role":"system","content":"rule §"},{"role":"user","content":"a"}>>]"#,
    ),
    ("texts", r#""input":[{"role":"user","content":[<<{"type":"input_text","text":"word §"}>>]}]"#),
    (
        "texts-of-assistant",
        r#""input":[{"role":"user","content":"a"},{"type":"message","role":"assistant","content":[<<{"type":"output_text","text":"w §"},{"type":"refusal","refusal":"no"}>>]}]"#,
    ),
    (
        "texts-cited",
        r#""input":[{"role":"user","content":"a"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"<<wörd>>","annotations":[<<{"type":"url_citation","url":"https://example.com/§","title":"t","start_index":§,"end_index":§}>>]}]}]"#,
    ),
    (
        "texts-logprobs",
        r#""input":[{"role":"user","content":"a"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"w","annotations":[],"logprobs":[<<{"token":"t§","logprob":-0.1,"bytes":[1],"top_logprobs":[]}>>]}]}]"#,
    ),
    (
        "images",
        r#""input":[{"role":"user","content":[<<{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo=","detail":"low"}>>]}]"#,
    ),
    (
        "image-urls",
        r#""input":[{"role":"user","content":[<<{"type":"input_image","image_url":"https://example.com/§.png"}>>]}]"#,
    ),
    (
        "files",
        r#""input":[{"role":"user","content":[<<{"type":"input_file","file_data":"data:application/pdf;base64,JVBERi0=","filename":"f§.pdf"}>>]}]"#,
    ),
    (
        "file-ids",
        r#""input":[{"role":"user","content":[<<{"type":"input_file","file_id":"file-§"},{"type":"input_image","file_id":"file-§"}>>]}]"#,
    ),
    (
        "audios",
        r#""input":[{"role":"user","content":[<<{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}>>]}]"#,
    ),
    (
        "unknown-parts",
        r#""input":[{"role":"user","content":[{"type":"input_text","text":"a"},<<{"type":"sculpture","id":"§"}>>]}]"#,
    ),
    (
        "unknown-items",
        r#""input":[{"role":"user","content":"a"},<<{"type":"sculpture","id":"§"}>>]"#,
    ),
    (
        "unknown-items-between",
        r#""input":[<<{"role":"user","content":"a"},{"type":"sculpture","id":"§"},{"role":"assistant","content":"a"},{"type":"sculpture","id":"§"}>>]"#,
    ),
    (
        "references",
        r#""input":[{"role":"user","content":"a"},<<{"type":"item_reference","id":"msg_§"}>>]"#,
    ),
    (
        "calls",
        r#""input":[{"role":"user","content":"a"},<<{"type":"function_call","call_id":"c§","name":"f","arguments":"{}"}>>,<<{"type":"function_call_output","call_id":"c§","output":"r"}>>]"#,
    ),
    (
        "calls-distinct-names",
        r#""input":[{"role":"user","content":"a"},<<{"type":"function_call","id":"fc_§","call_id":"c§","name":"f§","arguments":"{}"}>>,<<{"type":"function_call_output","call_id":"c§","output":"r"}>>]"#,
    ),
    (
        "calls-illegal-names",
        r#""input":[{"role":"user","content":"a"},<<{"type":"function_call","call_id":"c:!§","name":"f ü.§","arguments":"{}"}>>,<<{"type":"function_call_output","call_id":"c:!§","output":"r"}>>]"#,
    ),
    (
        "calls-rounds",
        r#""input":[{"role":"user","content":"a"},<<{"type":"function_call","call_id":"c§","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c§","output":"r"}>>]"#,
    ),
    (
        "calls-rounds-with-reasoning",
        r#""input":[{"role":"user","content":"a"},<<{"type":"reasoning","id":"rs_§","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":"gAAAA§"},{"type":"function_call","call_id":"c§","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c§","output":"r"}>>]"#,
    ),
    (
        "calls-unanswered",
        r#""input":[{"role":"user","content":"a"},<<{"type":"function_call","call_id":"c§","name":"f","arguments":"{}"}>>]"#,
    ),
    (
        "calls-same-id",
        r#""input":[{"role":"user","content":"a"},<<{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}>>,<<{"type":"function_call_output","call_id":"c","output":"r"}>>]"#,
    ),
    (
        "calls-same-id-rounds",
        r#""input":[{"role":"user","content":"a"},<<{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"r"}>>]"#,
    ),
    (
        "calls-namespaced",
        r#""input":[{"role":"user","content":"a"},<<{"type":"function_call","call_id":"c§","namespace":"n§","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c§","output":"r"}>>],"tools":[<<{"type":"namespace","name":"n§","description":"d","tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}}}]}>>]"#,
    ),
    (
        "calls-custom",
        r#""input":[{"role":"user","content":"a"},<<{"type":"custom_tool_call","call_id":"c§","name":"f§","input":"in"},{"type":"custom_tool_call_output","call_id":"c§","output":"r"}>>]"#,
    ),
    (
        "calls-hosted",
        r#""input":[{"role":"user","content":"a"},<<{"type":"web_search_call","id":"ws_§","status":"completed","action":{"type":"search","query":"q"}},{"type":"local_shell_call","id":"ls_§","call_id":"c§","action":{"type":"exec","command":["ls"]}},{"type":"local_shell_call_output","id":"c§","output":"r"}>>]"#,
    ),
    (
        "calls-items-among-results",
        r#""input":[{"role":"user","content":"a"},<<{"type":"function_call","call_id":"c§","name":"f","arguments":"{}"}>>,<<{"type":"function_call_output","call_id":"c§","output":"r"},{"role":"developer","content":"s"}>>]"#,
    ),
    (
        "results-orphaned",
        r#""input":[{"role":"user","content":"a"},<<{"type":"function_call_output","call_id":"c§","output":"r"}>>]"#,
    ),
    (
        "results-of-one-call",
        r#""input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},<<{"type":"function_call_output","call_id":"c","output":"r §"}>>]"#,
    ),
    (
        "results-of-texts",
        r#""input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[<<{"type":"input_text","text":"r §"}>>]}]"#,
    ),
    (
        "results-of-images",
        r#""input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[<<{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo=","detail":"high"}>>]}]"#,
    ),
    (
        "results-with-images",
        r#""input":[{"role":"user","content":"a"},<<{"type":"function_call","call_id":"c§","name":"f","arguments":"{}"}>>,<<{"type":"function_call_output","call_id":"c§","output":[{"type":"input_text","text":"t"},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]}>>]"#,
    ),
    (
        "reasoning",
        r#""input":[{"role":"user","content":"a"},<<{"type":"reasoning","id":"rs_§","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":"gAAAA§"}>>]"#,
    ),
    (
        "reasoning-summaries",
        r#""input":[{"role":"user","content":"a"},{"type":"reasoning","id":"rs","summary":[<<{"type":"summary_text","text":"t §"}>>],"content":[<<{"type":"reasoning_text","text":"t §"}>>],"encrypted_content":"gAAAA"},{"role":"assistant","content":"b"}]"#,
    ),
    (
        "reasoning-unknown-keys",
        r#""input":[{"role":"user","content":"a"},{"type":"reasoning","id":"rs","summary":[<<{"type":"summary_text","text":"t §","key":1}>>],<<"key_§":1>>},{"role":"assistant","content":"b"}]"#,
    ),
    (
        "compactions",
        r#""input":[{"role":"user","content":"a"},<<{"type":"compaction","id":"cmp_§","encrypted_content":"gAAAA"}>>]"#,
    ),
    (
        "same-item-ids",
        r#""input":[{"role":"user","content":"a"},<<{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"w","annotations":[]}]}>>]"#,
    ),
    (
        "phases",
        r#""input":[{"role":"user","content":"a"},<<{"type":"message","id":"msg_§","phase":"commentary","role":"assistant","content":[{"type":"output_text","text":"w","annotations":[]}]}>>]"#,
    ),
    (
        "arguments-members",
        r#""input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"f","arguments":"{<<\"k§\":1>>}"},{"type":"function_call_output","call_id":"c","output":"r"}]"#,
    ),
    (
        "arguments-no-json",
        r#""input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"f","arguments":"<<k§>>"},{"type":"function_call_output","call_id":"c","output":"r"}]"#,
    ),
    (
        "tools",
        r#""tools":[<<{"type":"function","name":"f§","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}>>]"#,
    ),
    (
        "tools-illegal-names",
        r#""tools":[<<{"type":"function","name":"f ü.§","parameters":{"type":"object","properties":{}}}>>]"#,
    ),
    (
        "tools-same-name",
        r#""tools":[<<{"type":"function","name":"f","parameters":{"type":"object","properties":{}}}>>]"#,
    ),
    (
        "tools-custom",
        r#""tools":[<<{"type":"custom","name":"f§","format":{"type":"grammar","syntax":"lark","definition":"a"}}>>]"#,
    ),
    ("tools-hosted", r#""tools":[<<{"type":"hosted_§"}>>]"#),
    (
        "tools-mcp",
        r#""tools":[<<{"type":"mcp","server_label":"s§","server_url":"https://example.com","allowed_tools":["a"]}>>]"#,
    ),
    (
        "tools-web-search",
        r#""tools":[<<{"type":"web_search","filters":{"allowed_domains":["a§.example"]}}>>]"#,
    ),
    (
        "tools-web-search-domains",
        r#""tools":[{"type":"web_search","filters":{"allowed_domains":[<<"a§.example">>]}}]"#,
    ),
    (
        "tools-namespace",
        r#""tools":[{"type":"namespace","name":"n","description":"d","tools":[<<{"type":"function","name":"f§","parameters":{"type":"object","properties":{}}}>>]}]"#,
    ),
    (
        "tools-namespaces-same",
        r#""tools":[<<{"type":"namespace","name":"n","description":"d","tools":[{"type":"function","name":"f§","parameters":{"type":"object","properties":{}}}]}>>]"#,
    ),
    ("tools-unknown-keys", r#""tools":[{"type":"function","name":"f",<<"key_§":1>>}]"#),
    (
        "tools-and-calls",
        r#""tools":[<<{"type":"function","name":"f ü.§"}>>],"input":[{"role":"user","content":"a"},<<{"type":"function_call","call_id":"c§","name":"f ü.§","arguments":"{}"},{"type":"function_call_output","call_id":"c§","output":"r"}>>]"#,
    ),
    (
        "tools-added",
        r#""input":[{"role":"user","content":"a"},<<{"type":"additional_tools","tools":[{"type":"function","name":"f§"}]}>>]"#,
    ),
    (
        "allowed-tools",
        r#""tools":[<<{"type":"function","name":"f§"}>>],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[<<{"type":"function","name":"f§"}>>]}"#,
    ),
    (
        "allowed-tools-required",
        r#""tools":[<<{"type":"function","name":"f§"}>>,{"type":"function","name":"o"}],"tool_choice":{"type":"allowed_tools","mode":"required","tools":[<<{"type":"function","name":"f§"}>>]}"#,
    ),
    (
        "allowed-tools-unknown",
        r#""tools":[<<{"type":"function","name":"f§"}>>],"tool_choice":{"type":"allowed_tools","mode":"required","tools":[<<{"type":"function","name":"g§"}>>]}"#,
    ),
    (
        "includes",
        r#""include":[<<"reasoning.encrypted_content","message.output_text.logprobs","x§">>]"#,
    ),
    ("metadata", r#""metadata":{<<"k§":"v">>}"#),
    ("prompt-variables", r#""prompt":{"id":"p","variables":{<<"k§":"v">>}}"#),
    ("unknown-keys", r#"<<"key_§":{"a":1}>>"#),
    ("unknown-keys-same", r#"<<"key":{"a":1}>>"#),
    ("unknown-keys-of-item", r#""input":[{"role":"user","content":"a",<<"key_§":1>>}]"#),
    ("unknown-keys-of-items", r#""input":[<<{"role":"user","content":"a","key_§":1}>>]"#),
    (
        "unknown-keys-of-part",
        r#""input":[{"role":"user","content":[{"type":"input_text","text":"a",<<"key_§":1>>}]}]"#,
    ),
    (
        "unknown-keys-of-call",
        r#""input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}",<<"key_§":1>>},{"type":"function_call_output","call_id":"c","output":"r",<<"key_§":1>>}]"#,
    ),
    (
        "unknown-keys-of-settings",
        r#""text":{"format":{"type":"text",<<"key_§":1>>},<<"key_§":1>>},"reasoning":{"effort":"low",<<"key_§":1>>}"#,
    ),
    ("same-fields", r#"<<"temperature":0.§>>"#),
    ("text-escapes", r#""input":"<<a\n\"\u00e9\ud83d\ude00\ud83d>>""#),
    (
        "systems-and-calls",
        r#""input":[{"role":"user","content":"a"},<<{"type":"function_call","call_id":"c§","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c§","output":"r"},{"role":"developer","content":"left §"}>>]"#,
    ),
];

const RESPONSES: &[Row] = &[
    (
        "messages",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[<<{"type":"message","id":"msg_§","role":"assistant","status":"completed","content":[{"type":"output_text","text":"w","annotations":[]}]}>>]}"#,
    ),
    (
        "texts",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"msg","role":"assistant","status":"completed","content":[<<{"type":"output_text","text":"w","annotations":[]}>>]}]}"#,
    ),
    (
        "refusals",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"msg","role":"assistant","status":"completed","content":[<<{"type":"refusal","refusal":"w"},{"type":"output_text","text":"w"}>>]}]}"#,
    ),
    (
        "calls",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[<<{"type":"function_call","id":"fc_§","call_id":"c§","name":"f§","arguments":"{}"}>>]}"#,
    ),
    (
        "calls-same-id",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[<<{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{}"}>>]}"#,
    ),
    (
        "calls-custom",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[<<{"type":"custom_tool_call","id":"fc_§","call_id":"c§","name":"f§","input":"i"}>>]}"#,
    ),
    (
        "calls-hosted",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[<<{"type":"web_search_call","id":"ws_§","status":"completed","action":{"type":"search","query":"q"}}>>,{"type":"message","id":"msg","role":"assistant","status":"completed","content":[{"type":"output_text","text":"w","annotations":[]}]}]}"#,
    ),
    (
        "reasoning",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[<<{"type":"reasoning","id":"rs_§","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":"gAAAA"}>>]}"#,
    ),
    (
        "reasoning-summaries",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[{"type":"reasoning","id":"rs","summary":[<<{"type":"summary_text","text":"t §"}>>],"content":[<<{"type":"reasoning_text","text":"t §"}>>]}]}"#,
    ),
    (
        "annotations",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"msg","role":"assistant","status":"completed","content":[{"type":"output_text","text":"<<wörd>>","annotations":[<<{"type":"url_citation","url":"https://example.com/§","title":"t","start_index":§,"end_index":§}>>]}]}]}"#,
    ),
    (
        "annotations-of-files",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"msg","role":"assistant","status":"completed","content":[{"type":"output_text","text":"<<wörd>>","annotations":[<<{"type":"file_citation","file_id":"f§","filename":"n","index":§}>>]}]}]}"#,
    ),
    (
        "logprobs",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"msg","role":"assistant","status":"completed","content":[{"type":"output_text","text":"w","annotations":[],"logprobs":[<<{"token":"t§","logprob":-0.1,"bytes":[1],"top_logprobs":[{"token":"t§","logprob":-0.1,"bytes":[1]}]}>>]}]}]}"#,
    ),
    (
        "unknown-items",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[<<{"type":"sculpture","id":"x§"}>>]}"#,
    ),
    (
        "unknown-keys",
        r#"{"id":"r","object":"response","status":"completed","model":"m",<<"key_§":1>>,"output":[{"type":"message",<<"key_§":1>>,"id":"msg","role":"assistant","status":"completed","content":[{"type":"output_text",<<"key_§":1>>,"text":"w","annotations":[]}]}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2,<<"key_§":1>>,"input_tokens_details":{<<"key_§":1>>}}}"#,
    ),
    (
        "unknown-keys-same",
        r#"{"id":"r","object":"response","status":"completed","model":"m",<<"key":1>>,"output":[{"type":"message",<<"key":1>>,"id":"msg","role":"assistant","status":"completed","content":[{"type":"output_text",<<"key":1>>,"text":"w","annotations":[]}]}]}"#,
    ),
    (
        "echoed-tools",
        r#"{"id":"r","object":"response","status":"completed","model":"m","tools":[<<{"type":"function","name":"f§"}>>],"metadata":{<<"k§":"v">>},"output":[{"type":"message","id":"msg","role":"assistant","status":"completed","content":[{"type":"output_text","text":"w","annotations":[]}]}]}"#,
    ),
];

const STREAMS: &[Row] = &[
    (
        "texts",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg","status":"in_progress","role":"assistant","content":[]}}
        {"type":"response.content_part.added","item_id":"msg","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}
        * {"type":"response.output_text.delta","item_id":"msg","output_index":0,"content_index":0,"delta":"w§ "}
        {"type":"response.output_text.done","item_id":"msg","output_index":0,"content_index":0,"text":"w"}
        {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg","status":"completed","role":"assistant","content":[{"type":"output_text","text":"w","annotations":[]}]}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[]}}"#,
    ),
    (
        "items",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        * {"type":"response.output_item.added","output_index":§,"item":{"type":"message","id":"msg_§","status":"in_progress","role":"assistant","content":[]}}
        * {"type":"response.content_part.added","item_id":"msg_§","output_index":§,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}
        * {"type":"response.output_text.delta","item_id":"msg_§","output_index":§,"content_index":0,"delta":"w§ "}
        * {"type":"response.output_text.done","item_id":"msg_§","output_index":§,"content_index":0,"text":"w§ "}
        * {"type":"response.content_part.done","item_id":"msg_§","output_index":§,"content_index":0,"part":{"type":"output_text","text":"w§ ","annotations":[]}}
        * {"type":"response.output_item.done","output_index":§,"item":{"type":"message","id":"msg_§","status":"completed","role":"assistant","content":[{"type":"output_text","text":"w§ ","annotations":[]}]}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[<<{"type":"message","id":"msg_§","status":"completed","role":"assistant","content":[{"type":"output_text","text":"w§ ","annotations":[]}]}>>]}}"#,
    ),
    (
        "items-only-at-the-end",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[<<{"type":"function_call","id":"fc_§","call_id":"c§","name":"f","arguments":"{}"}>>]}}"#,
    ),
    (
        "items-open",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        * {"type":"response.output_item.added","output_index":§,"item":{"type":"function_call","id":"fc_§","call_id":"c§","name":"f","arguments":""}}
        --
        * {"type":"response.function_call_arguments.delta","item_id":"fc_§","output_index":§,"delta":"{}"}
        --
        * {"type":"response.output_item.done","output_index":§,"item":{"type":"function_call","id":"fc_§","call_id":"c§","name":"f","arguments":"{}"}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[]}}"#,
    ),
    (
        "parts",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg","status":"in_progress","role":"assistant","content":[]}}
        * {"type":"response.content_part.added","item_id":"msg","output_index":0,"content_index":§,"part":{"type":"output_text","text":"","annotations":[]}}
        * {"type":"response.output_text.delta","item_id":"msg","output_index":0,"content_index":§,"delta":"w"}
        * {"type":"response.output_text.done","item_id":"msg","output_index":0,"content_index":§,"text":"w"}
        * {"type":"response.content_part.done","item_id":"msg","output_index":0,"content_index":§,"part":{"type":"output_text","text":"w","annotations":[]}}
        {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg","status":"completed","role":"assistant","content":[<<{"type":"output_text","text":"w","annotations":[]}>>]}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[]}}"#,
    ),
    (
        "fragments",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":""}}
        {"type":"response.function_call_arguments.delta","item_id":"fc","output_index":0,"delta":"{\"a\":\""}
        * {"type":"response.function_call_arguments.delta","item_id":"fc","output_index":0,"delta":"w§ "}
        {"type":"response.function_call_arguments.delta","item_id":"fc","output_index":0,"delta":"\"}"}
        {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{}"}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[]}}"#,
    ),
    (
        "reasoning",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        {"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}}
        * {"type":"response.reasoning_summary_part.added","item_id":"rs","output_index":0,"summary_index":§,"part":{"type":"summary_text","text":""}}
        * {"type":"response.reasoning_summary_text.delta","item_id":"rs","output_index":0,"summary_index":§,"delta":"w"}
        * {"type":"response.reasoning_summary_text.done","item_id":"rs","output_index":0,"summary_index":§,"text":"w"}
        * {"type":"response.reasoning_summary_part.done","item_id":"rs","output_index":0,"summary_index":§,"part":{"type":"summary_text","text":"w"}}
        {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[<<{"type":"summary_text","text":"w"}>>],"encrypted_content":"gAAA"}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[]}}"#,
    ),
    (
        "annotations",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg","status":"in_progress","role":"assistant","content":[]}}
        {"type":"response.content_part.added","item_id":"msg","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}
        * {"type":"response.output_text.delta","item_id":"msg","output_index":0,"content_index":0,"delta":"wörd"}
        * {"type":"response.output_text.annotation.added","item_id":"msg","output_index":0,"content_index":0,"annotation_index":§,"annotation":{"type":"url_citation","url":"https://example.com/§","title":"t","start_index":§,"end_index":§}}
        {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg","status":"completed","role":"assistant","content":[{"type":"output_text","text":"w","annotations":[<<{"type":"url_citation","url":"https://example.com/§","title":"t","start_index":§,"end_index":§}>>]}]}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[]}}"#,
    ),
    (
        "logprobs",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg","status":"in_progress","role":"assistant","content":[]}}
        * {"type":"response.output_text.delta","item_id":"msg","output_index":0,"content_index":0,"delta":"w","logprobs":[{"token":"t§","logprob":-0.1,"top_logprobs":[]}]}
        {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg","status":"completed","role":"assistant","content":[{"type":"output_text","text":"w","annotations":[],"logprobs":[<<{"token":"t§","logprob":-0.1,"top_logprobs":[]}>>]}]}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[]}}"#,
    ),
    (
        "unknown-events",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        * {"type":"response.sculpture.delta","item_id":"x§","output_index":§,"delta":"w"}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[]}}"#,
    ),
    (
        "unknown-parts",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        * {"type":"response.output_text.delta","item_id":"x§","output_index":§,"content_index":0,"delta":"w"}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[]}}"#,
    ),
    (
        "unknown-keys",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[],<<"key_§":1>>},<<"key_§":1>>}
        {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg","status":"in_progress","role":"assistant","content":[],<<"key_§":1>>}}
        {"type":"response.output_text.delta","item_id":"msg","output_index":0,"content_index":0,"delta":"w",<<"key_§":1>>}
        {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg","status":"completed","role":"assistant","content":[{"type":"output_text","text":"w","annotations":[],<<"key_§":1>>}],<<"key_§":1>>}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[],<<"key_§":2>>}}"#,
    ),
    (
        "unknown-keys-of-each",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg","status":"in_progress","role":"assistant","content":[]}}
        * {"type":"response.output_text.delta","item_id":"msg","output_index":0,"content_index":0,"delta":"w","key_§":1}
        * {"type":"response.in_progress","response":{"id":"r","model":"m","status":"in_progress","output":[],"key_§":1}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[]}}"#,
    ),
    (
        "hosted-items",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        * {"type":"response.output_item.added","output_index":§,"item":{"type":"web_search_call","id":"ws_§","status":"in_progress"}}
        * {"type":"response.web_search_call.searching","item_id":"ws_§","output_index":§}
        * {"type":"response.output_item.done","output_index":§,"item":{"type":"web_search_call","id":"ws_§","status":"completed","action":{"type":"search","query":"q"}}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[<<{"type":"web_search_call","id":"ws_§","status":"completed","action":{"type":"search","query":"q"}}>>]}}"#,
    ),
    (
        "same-items",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        * {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg","status":"in_progress","role":"assistant","content":[]}}
        * {"type":"response.output_text.delta","item_id":"msg","output_index":0,"content_index":0,"delta":"w"}
        * {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg","status":"completed","role":"assistant","content":[{"type":"output_text","text":"w","annotations":[]}]}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[]}}"#,
    ),
    (
        "custom-fragments",
        r#"
        {"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","output":[]}}
        {"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","id":"fc","call_id":"c","name":"f","input":""}}
        * {"type":"response.custom_tool_call_input.delta","item_id":"fc","output_index":0,"delta":"w§ \n"}
        {"type":"response.output_item.done","output_index":0,"item":{"type":"custom_tool_call","id":"fc","call_id":"c","name":"f","input":"<<w§ \n>>"}}
        {"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[]}}"#,
    ),
];
