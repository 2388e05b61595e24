//! Long streams of OpenAI Chat.

use crate::long::Row;

pub(super) const STREAMS: &[Row] = &[
    (
        "texts",
        r#"
        {"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"w§ "}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "text-halves",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"w\ud83d"}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "reasoning",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"reasoning_content":"w§ "}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "reasoning-and-texts",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"reasoning_content":"w§ "}}]}
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"w§ "}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "reasoning-details",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","text":"w§ ","index":0}]}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "fragments",
        r#"
        {"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":\""}}]}}]}
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"w§ "}}]}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
        [DONE]"#,
    ),
    (
        "calls",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":§,"id":"c§","type":"function","function":{"name":"f§","arguments":"{}"}}]}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
        [DONE]"#,
    ),
    (
        "calls-in-one",
        r#"
        {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[<<{"index":§,"id":"c§","type":"function","function":{"name":"f§","arguments":"{}"}}>>]}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
        [DONE]"#,
    ),
    (
        "calls-interleaved",
        r#"
        {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[<<{"index":§,"id":"c§","type":"function","function":{"name":"f§","arguments":""}}>>]}}]}
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":§,"function":{"arguments":"{\"a\":"}}]}}]}
        --
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":§,"function":{"arguments":"1}"}}]}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
        [DONE]"#,
    ),
    (
        "calls-same-index",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c§","type":"function","function":{"name":"f§","arguments":"{}"}}]}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
        [DONE]"#,
    ),
    (
        "calls-without-index",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"id":"c§","type":"function","function":{"name":"f§","arguments":"{}"}}]}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
        [DONE]"#,
    ),
    (
        "calls-and-texts",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":§,"id":"c§","type":"function","function":{"name":"f§","arguments":"{}"}}]}}]}
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"w"}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
        [DONE]"#,
    ),
    (
        "choices",
        r#"
        * {"id":"c","model":"m","choices":[{"index":§,"delta":{"content":"w"}}]}
        --
        * {"id":"c","model":"m","choices":[{"index":§,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "choices-in-one",
        r#"
        {"id":"c","model":"m","choices":[<<{"index":§,"delta":{"content":"w"}}>>]}
        {"id":"c","model":"m","choices":[<<{"index":§,"delta":{},"finish_reason":"stop"}>>]}
        [DONE]"#,
    ),
    (
        "choices-by-turns",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"w"}}]}
        * {"id":"c","model":"m","choices":[{"index":1,"delta":{"content":"w"}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"},{"index":1,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "usages",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"w"}}],"usage":{"prompt_tokens":1,"completion_tokens":§,"total_tokens":2,"key_§":1}}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "annotations",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"w","annotations":[{"type":"url_citation","url_citation":{"url":"https://example.com/§","title":"t","start_index":0,"end_index":1}}]}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "annotations-repeated",
        r#"
        * {"id":"c","model":"m","citations":["https://example.com/a","https://example.com/§"],"choices":[{"index":0,"delta":{"content":"w"}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "logprobs",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"w"},"logprobs":{"content":[{"token":"t§","logprob":-0.1,"bytes":[1],"top_logprobs":[]}],"key_§":1}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "unknown-keys",
        r#"
        {"id":"c","model":"m",<<"key_§":1>>,"choices":[{"index":0,"delta":{"content":"w",<<"key_§":1>>},<<"key_§":1>>}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "unknown-keys-of-each",
        r#"
        * {"id":"c","model":"m","key_§":1,"choices":[{"index":0,"delta":{"content":"w","key_§":1},"key_§":1}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "unknown-keys-same",
        r#"
        * {"id":"c","model":"m","key":§,"choices":[{"index":0,"delta":{"content":"w","key":§},"key":§}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "unknown-keys-of-call",
        r#"
        {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{}"},<<"key_§":1>>}]}}]}
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":""},"key_§":1}]}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
        [DONE]"#,
    ),
    (
        "empty-chunks",
        r#"
        * {"id":"c","model":"m","choices":[]}
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"w"},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "finishes",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"w"},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "ids-change",
        r#"
        * {"id":"c§","model":"m§","choices":[{"index":0,"delta":{"role":"assistant","content":"w"}}],"created":§}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
    (
        "whole-messages",
        r#"
        * {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"w"},"message":{"role":"assistant","content":"w"}}]}
        {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
        [DONE]"#,
    ),
];
