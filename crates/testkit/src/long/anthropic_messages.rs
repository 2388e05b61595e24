//! Long inputs of Anthropic Messages.

use super::{Row, Tables};

pub(super) const TABLES: Tables = Tables {
    requests: REQUESTS,
    minimal: (r#""messages""#, r#"[{"role":"user","content":"Hello."}]"#),
    tool: r#""max_tokens":9,"tools":[{"name":"f","input_schema":SCHEMA},{"name":"g","strict":true,"input_schema":SCHEMA}]"#,
    output: r#""max_tokens":9,"output_config":{"format":{"type":"json_schema","schema":SCHEMA}}"#,
    responses: RESPONSES,
    streams: STREAMS,
};

const REQUESTS: &[Row] = &[
    ("users", r#""max_tokens":9,"messages":[<<{"role":"user","content":"word §"}>>]"#),
    (
        "assistants",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},<<{"role":"assistant","content":"word §"}>>]"#,
    ),
    (
        "users-and-assistants",
        r#""max_tokens":9,"messages":[<<{"role":"user","content":"q"},{"role":"assistant","content":"a §"}>>]"#,
    ),
    (
        "users-and-systems",
        r#""max_tokens":9,"messages":[<<{"role":"user","content":"q"},{"role":"system","content":"s §"}>>]"#,
    ),
    (
        "blank-users",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},<<{"role":"user","content":""}>>]"#,
    ),
    (
        "blank-texts",
        r#""max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"a"},<<{"type":"text","text":" "}>>]}]"#,
    ),
    ("systems", r#""max_tokens":9,"system":[<<{"type":"text","text":"rule §"}>>]"#),
    (
        "systems-cached",
        r#""max_tokens":9,"system":[<<{"type":"text","text":"rule §","cache_control":{"type":"ephemeral"}}>>]"#,
    ),
    (
        "texts",
        r#""max_tokens":9,"messages":[{"role":"user","content":[<<{"type":"text","text":"word §"}>>]}]"#,
    ),
    (
        "texts-cached",
        r#""max_tokens":9,"messages":[{"role":"user","content":[<<{"type":"text","text":"word §","cache_control":{"type":"ephemeral","ttl":"1h"}}>>]}]"#,
    ),
    (
        "texts-cited",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"<<wörd>>","citations":[<<{"type":"char_location","cited_text":"c","document_index":0,"start_char_index":§,"end_char_index":§}>>]}]}]"#,
    ),
    (
        "texts-cited-each",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[<<{"type":"text","text":"w","citations":[{"type":"web_search_result_location","cited_text":"c","url":"https://example.com/§","title":"t","encrypted_index":"e"}]}>>]}]"#,
    ),
    (
        "images",
        r#""max_tokens":9,"messages":[{"role":"user","content":[<<{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}>>]}]"#,
    ),
    (
        "image-urls",
        r#""max_tokens":9,"messages":[{"role":"user","content":[<<{"type":"image","source":{"type":"url","url":"https://example.com/§.png"}}>>]}]"#,
    ),
    (
        "image-messages",
        r#""max_tokens":9,"messages":[<<{"role":"user","content":[{"type":"image","source":{"type":"file","file_id":"file_§"}}]}>>]"#,
    ),
    (
        "documents",
        r#""max_tokens":9,"messages":[{"role":"user","content":[<<{"type":"document","title":"t§","context":"c","citations":{"enabled":true},"source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="}}>>]}]"#,
    ),
    (
        "documents-of-words",
        r#""max_tokens":9,"messages":[{"role":"user","content":[<<{"type":"document","title":"t§","source":{"type":"text","media_type":"text/plain","data":"words"}}>>]}]"#,
    ),
    (
        "documents-of-content",
        r#""max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"content","content":[<<{"type":"text","text":"t§"}>>]}}]}]"#,
    ),
    (
        "documents-by-file",
        r#""max_tokens":9,"messages":[{"role":"user","content":[<<{"type":"document","source":{"type":"file","file_id":"file_§"}}>>]}]"#,
    ),
    (
        "search-results",
        r#""max_tokens":9,"messages":[{"role":"user","content":[<<{"type":"search_result","source":"https://example.com/§","title":"t","content":[{"type":"text","text":"w"}]}>>]}]"#,
    ),
    (
        "unknown-blocks",
        r#""max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"a"},<<{"type":"sculpture","id":"§"}>>]}]"#,
    ),
    (
        "thoughts",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[<<{"type":"thinking","thinking":"t §","signature":"s§"}>>,{"type":"text","text":"a"}]}]"#,
    ),
    (
        "thoughts-redacted",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[<<{"type":"redacted_thinking","data":"d§"}>>,{"type":"text","text":"a"}]}]"#,
    ),
    (
        "thoughts-rounds",
        r#""max_tokens":9,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"a"},<<{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s§"},{"type":"tool_use","id":"c§","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c§","content":"r"}]}>>]"#,
    ),
    (
        "calls",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[<<{"type":"tool_use","id":"c§","name":"f","input":{}}>>]},{"role":"user","content":[<<{"type":"tool_result","tool_use_id":"c§","content":"r"}>>]}]"#,
    ),
    (
        "calls-distinct-names",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[<<{"type":"tool_use","id":"c§","name":"f§","input":{}}>>]},{"role":"user","content":[<<{"type":"tool_result","tool_use_id":"c§","content":"r"}>>]}]"#,
    ),
    (
        "calls-illegal-names",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[<<{"type":"tool_use","id":"c:!§","name":"f ü.§","input":{}}>>]},{"role":"user","content":[<<{"type":"tool_result","tool_use_id":"c:!§","content":"r"}>>]}]"#,
    ),
    (
        "calls-unanswered",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[<<{"type":"tool_use","id":"c§","name":"f","input":{}}>>]},{"role":"user","content":"b"}]"#,
    ),
    (
        "calls-unanswered-rounds",
        r#""max_tokens":9,"messages":[<<{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"c§","name":"f§","input":{}}]}>>]"#,
    ),
    (
        "calls-same-id",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[<<{"type":"tool_use","id":"c","name":"f","input":{}}>>]},{"role":"user","content":[<<{"type":"tool_result","tool_use_id":"c","content":"r"}>>]}]"#,
    ),
    (
        "calls-same-id-rounds",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},<<{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}>>]"#,
    ),
    (
        "calls-reversed",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[<<{"type":"tool_use","id":"c§","name":"f","input":{}},{"type":"tool_use","id":"d§","name":"f","input":{}}>>]},{"role":"user","content":[<<{"type":"tool_result","tool_use_id":"d§","content":"r"}>>,<<{"type":"tool_result","tool_use_id":"c§","content":"r"}>>]}]"#,
    ),
    (
        "calls-rounds",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},<<{"role":"assistant","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"c§","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c§","content":"r","is_error":true},{"type":"text","text":"go on"}]}>>]"#,
    ),
    (
        "calls-rounds-with-systems",
        r#""max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"a"},<<{"role":"assistant","content":[{"type":"tool_use","id":"c§","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c§","content":"r"}]},{"role":"system","content":"<total_tokens>§ left"}>>]"#,
    ),
    (
        "calls-texts-between",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[<<{"type":"text","text":"t"},{"type":"tool_use","id":"c§","name":"f","input":{}}>>]},{"role":"user","content":[<<{"type":"text","text":"t"},{"type":"tool_result","tool_use_id":"c§","content":"r"}>>]}]"#,
    ),
    (
        "calls-hosted",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[<<{"type":"server_tool_use","id":"srvtoolu_§","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_§","content":[{"type":"web_search_result","url":"https://example.com","title":"t","encrypted_content":"e"}]}>>]}]"#,
    ),
    (
        "results-orphaned",
        r#""max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"a"},<<{"type":"tool_result","tool_use_id":"c§","content":"r"}>>]}]"#,
    ),
    (
        "results-of-one-call",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},{"role":"user","content":[<<{"type":"tool_result","tool_use_id":"c","content":"r §"}>>]}]"#,
    ),
    (
        "results-of-texts",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[<<{"type":"text","text":"r §"}>>]}]}]"#,
    ),
    (
        "results-of-images",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[<<{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}>>]}]}]"#,
    ),
    (
        "results-with-images",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[<<{"type":"tool_use","id":"c§","name":"f","input":{}}>>]},{"role":"user","content":[<<{"type":"tool_result","tool_use_id":"c§","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}>>]}]"#,
    ),
    (
        "results-of-documents",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[<<{"type":"document","title":"t","source":{"type":"text","media_type":"text/plain","data":"w"}},{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"w"}]},{"type":"tool_reference","tool_name":"f§"}>>]}]}]"#,
    ),
    (
        "arguments-members",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{<<"k§":1>>}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}]"#,
    ),
    (
        "arguments-same-members",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{<<"k":1>>}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}]"#,
    ),
    (
        "arguments-list",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":[<<1>>]}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}]"#,
    ),
    (
        "tools",
        r#""max_tokens":9,"tools":[<<{"name":"f§","description":"d","input_schema":{"type":"object","properties":{"a":{"type":"string"}}}}>>]"#,
    ),
    (
        "tools-illegal-names",
        r#""max_tokens":9,"tools":[<<{"name":"f ü.§","input_schema":{"type":"object"}}>>]"#,
    ),
    (
        "tools-same-name",
        r#""max_tokens":9,"tools":[<<{"name":"f","input_schema":{"type":"object"}}>>]"#,
    ),
    (
        "tools-cached",
        r#""max_tokens":9,"tools":[<<{"name":"f§","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}>>]"#,
    ),
    ("tools-hosted", r#""max_tokens":9,"tools":[<<{"type":"bash_2025§","name":"bash§"}>>]"#),
    (
        "tools-web-search",
        r#""max_tokens":9,"tools":[<<{"type":"web_search_20250305","name":"web_search","max_uses":§}>>]"#,
    ),
    (
        "tools-web-search-domains",
        r#""max_tokens":9,"tools":[{"type":"web_search_20250305","name":"web_search","allowed_domains":[<<"a§.example">>],"blocked_domains":[<<"b§.example">>]}]"#,
    ),
    (
        "tools-unknown-keys",
        r#""max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"},<<"key_§":1>>}]"#,
    ),
    (
        "tools-examples",
        r#""max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"},"input_examples":[<<{"a":§}>>]}]"#,
    ),
    (
        "tools-and-calls",
        r#""max_tokens":9,"tools":[<<{"name":"f ü.§","input_schema":{"type":"object"}}>>],"messages":[{"role":"user","content":"a"},<<{"role":"assistant","content":[{"type":"tool_use","id":"c§","name":"f ü.§","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c§","content":"r"}]}>>]"#,
    ),
    (
        "mcp-servers",
        r#""max_tokens":9,"mcp_servers":[<<{"type":"url","url":"https://example.com","name":"n§"}>>]"#,
    ),
    ("stops", r#""max_tokens":9,"stop_sequences":[<<"s§">>]"#),
    ("stops-blank", r#""max_tokens":9,"stop_sequences":[<<" ">>]"#),
    ("metadata", r#""max_tokens":9,"metadata":{"user_id":"u",<<"k§":"v">>}"#),
    (
        "context-edits",
        r#""max_tokens":9,"context_management":{"edits":[<<{"type":"clear_tool_uses_20250919","keep":{"type":"tool_uses","value":§}}>>]}"#,
    ),
    ("unknown-keys", r#""max_tokens":9,<<"key_§":{"a":1}>>"#),
    ("unknown-keys-same", r#""max_tokens":9,<<"key":{"a":1}>>"#),
    (
        "unknown-keys-of-message",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a",<<"key_§":1>>}]"#,
    ),
    (
        "unknown-keys-of-messages",
        r#""max_tokens":9,"messages":[<<{"role":"user","content":"a","key_§":1}>>]"#,
    ),
    (
        "unknown-keys-of-block",
        r#""max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"a",<<"key_§":1>>},{"type":"image",<<"key_§":1>>,"source":{"type":"url","url":"https://example.com/a.png",<<"key_§":1>>}}]}]"#,
    ),
    (
        "unknown-keys-of-call",
        r#""max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{},<<"key_§":1>>}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r",<<"key_§":1>>}]}]"#,
    ),
    (
        "unknown-keys-of-settings",
        r#""max_tokens":9,"thinking":{"type":"enabled","budget_tokens":1024,<<"key_§":1>>},"tool_choice":{"type":"auto",<<"key_§":1>>},"output_config":{"effort":"low",<<"key_§":1>>}"#,
    ),
    ("same-fields", r#""max_tokens":9,<<"temperature":0.§>>"#),
    (
        "text-escapes",
        r#""max_tokens":9,"messages":[{"role":"user","content":"<<a\n\"\u00e9\ud83d\ude00\ud83d>>"}]"#,
    ),
    (
        "containers",
        r#""max_tokens":9,"container":{"id":"c","skills":[<<{"type":"anthropic","skill_id":"s§"}>>]}"#,
    ),
];

const RESPONSES: &[Row] = &[
    (
        "texts",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[<<{"type":"text","text":"w §"}>>],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ),
    (
        "texts-blank",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[<<{"type":"text","text":""}>>],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ),
    (
        "thoughts",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[<<{"type":"thinking","thinking":"t","signature":"s§"},{"type":"redacted_thinking","data":"d§"}>>],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ),
    (
        "thoughts-and-texts",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[<<{"type":"thinking","thinking":"t","signature":"s§"},{"type":"text","text":"d§"}>>],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ),
    (
        "calls",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[<<{"type":"tool_use","id":"c§","name":"f§","input":{"a":1}}>>],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ),
    (
        "calls-same-id",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[<<{"type":"tool_use","id":"c","name":"f","input":{"a":1}}>>],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ),
    (
        "calls-and-texts",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[<<{"type":"text","text":"t"},{"type":"tool_use","id":"c§","name":"f§","input":{"a":1}}>>],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ),
    (
        "calls-hosted",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[<<{"type":"server_tool_use","id":"srvtoolu_§","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_§","content":[{"type":"web_search_result","url":"https://example.com","title":"t","encrypted_content":"e"}]}>>],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ),
    (
        "hosted-results",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"s","content":[<<{"type":"web_search_result","url":"https://example.com/§","title":"t","encrypted_content":"e"}>>]}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ),
    (
        "citations",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"<<wörd>>","citations":[<<{"type":"char_location","cited_text":"c","document_index":0,"document_title":"t","start_char_index":§,"end_char_index":§}>>]}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ),
    (
        "citations-of-each",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[<<{"type":"text","text":"wörd","citations":[{"type":"web_search_result_location","cited_text":"c","url":"https://example.com/§","title":"t","encrypted_index":"e"}]}>>],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ),
    (
        "unknown-blocks",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[<<{"type":"sculpture","id":"x§"}>>],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ),
    (
        "unknown-keys",
        r#"{"id":"m","type":"message","role":"assistant","model":"m",<<"key_§":1>>,"content":[{"type":"text","text":"w",<<"key_§":1>>},{"type":"tool_use","id":"c","name":"f","input":{},<<"key_§":1>>}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1,<<"key_§":1>>,"server_tool_use":{<<"key_§":1>>}}}"#,
    ),
    (
        "unknown-keys-same",
        r#"{"id":"m","type":"message","role":"assistant","model":"m",<<"key":1>>,"content":[{"type":"text","text":"w",<<"key":1>>}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1,<<"key":1>>}}"#,
    ),
    (
        "arguments-members",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c","name":"f","input":{<<"k§":1>>}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}"#,
    ),
    (
        "iterations",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"w"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1,"iterations":[<<{"input_tokens":§}>>]}}"#,
    ),
];

const STREAMS: &[Row] = &[
    (
        "texts",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
        * {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"w§ "}}
        {"type":"content_block_stop","index":0}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
    (
        "blocks",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        * {"type":"content_block_start","index":§,"content_block":{"type":"text","text":""}}
        * {"type":"content_block_delta","index":§,"delta":{"type":"text_delta","text":"w§ "}}
        * {"type":"content_block_stop","index":§}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
    (
        "blocks-same-index",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        * {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
        * {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"w§ "}}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
    (
        "blocks-of-start",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[<<{"type":"text","text":"w"},{"type":"tool_use","id":"c§","name":"f","input":{}}>>],"usage":{"input_tokens":1,"output_tokens":1}}}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
    (
        "calls",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        * {"type":"content_block_start","index":§,"content_block":{"type":"tool_use","id":"c§","name":"f§","input":{}}}
        * {"type":"content_block_delta","index":§,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}
        * {"type":"content_block_stop","index":§}
        {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
    (
        "calls-interleaved",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        * {"type":"content_block_start","index":§,"content_block":{"type":"tool_use","id":"c§","name":"f§","input":{}}}
        --
        * {"type":"content_block_delta","index":§,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}
        --
        * {"type":"content_block_stop","index":§}
        {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
    (
        "fragments",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":{}}}
        {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":\""}}
        * {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"w§ "}}
        {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"}"}}
        {"type":"content_block_stop","index":0}
        {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
    (
        "thoughts",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
        * {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"w§ "}}
        * {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s§"}}
        {"type":"content_block_stop","index":0}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
    (
        "thoughts-and-texts",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        * {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"t","signature":"s§"}}
        * {"type":"content_block_stop","index":0}
        * {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"w"}}
        * {"type":"content_block_stop","index":1}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
    (
        "citations",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}}
        * {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"wörd"}}
        * {"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","cited_text":"c","url":"https://example.com/§","title":"t","encrypted_index":"e"}}}
        {"type":"content_block_stop","index":0}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
    (
        "usages",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"w"}}
        {"type":"content_block_stop","index":0}
        * {"type":"message_delta","delta":{"stop_reason":"end_turn","key_§":1},"usage":{"output_tokens":§,"key_§":1},"key_§":1}
        {"type":"message_stop"}"#,
    ),
    (
        "unknown-events",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        * {"type":"ping"}
        * {"type":"sculpture","id":"x§"}
        * {"type":"content_block_delta","index":§,"delta":{"type":"text_delta","text":"w§ "}}
        * {"type":"content_block_stop","index":§}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
    (
        "unknown-deltas",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"w"}}
        * {"type":"content_block_delta","index":0,"delta":{"type":"sculpture_delta","x":"w§ "}}
        {"type":"content_block_stop","index":0}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
    (
        "unknown-keys",
        r#"
        {"type":"message_start",<<"key_§":1>>,"message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],<<"key_§":1>>,"usage":{"input_tokens":1,"output_tokens":1,<<"key_§":1>>}}}
        {"type":"content_block_start","index":0,<<"key_§":1>>,"content_block":{"type":"text","text":"",<<"key_§":1>>}}
        {"type":"content_block_delta","index":0,<<"key_§":1>>,"delta":{"type":"text_delta","text":"w",<<"key_§":1>>}}
        {"type":"content_block_stop","index":0,<<"key_§":1>>}
        {"type":"message_delta","delta":{"stop_reason":"end_turn",<<"key_§":1>>},"usage":{"output_tokens":1,<<"key_§":1>>},<<"key_§":1>>}
        {"type":"message_stop",<<"key_§":1>>}"#,
    ),
    (
        "unknown-keys-of-each",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
        * {"type":"content_block_delta","index":0,"key_§":1,"delta":{"type":"text_delta","text":"w","key_§":1}}
        {"type":"content_block_stop","index":0}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
    (
        "hosted-results",
        r#"
        {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
        * {"type":"content_block_start","index":§,"content_block":{"type":"server_tool_use","id":"srvtoolu_§","name":"web_search","input":{}}}
        * {"type":"content_block_delta","index":§,"delta":{"type":"input_json_delta","partial_json":"{\"query\":1}"}}
        * {"type":"content_block_stop","index":§}
        * {"type":"content_block_start","index":§,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_§","content":[{"type":"web_search_result","url":"https://example.com","title":"t","encrypted_content":"e"}]}}
        * {"type":"content_block_stop","index":§}
        {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}
        {"type":"message_stop"}"#,
    ),
];
