//! The request bodies of Messages, as tables.

use crate::sim::shape::{Field, Kind, Variant, may, need, rest};

pub(super) static BODY: Kind = Kind::Object(&[
    need("model", Kind::Text),
    need("max_tokens", Kind::Integer(0, i64::MAX)),
    MESSAGES,
    SYSTEM,
    TOOLS,
    TOOL_CHOICE,
    THINKING,
    OUTPUT_CONFIG,
    CACHE_CONTROL,
    CONTEXT_MANAGEMENT,
    SPEED,
    may("stop_sequences", Kind::List(&Kind::Text)),
    may("stream", Kind::Boolean),
    may("metadata", Kind::Object(&[may("user_id", Kind::Text)])),
    may("service_tier", Kind::Word(&["auto", "standard_only"])),
    may("inference_geo", Kind::Text),
    may("container", Kind::Either(&[Kind::Text, Kind::Open])),
    may("diagnostics", Kind::Object(&[may("previous_message_id", Kind::Text)])),
    may("temperature", Kind::Number(0.0, 1.0)),
    may("top_p", Kind::Number(0.0, 1.0)),
    may("top_k", Kind::Integer(0, i64::MAX)),
    may("mcp_servers", Kind::List(&Kind::Open)),
    FORMAT_OF_OLD,
    THREAD_HELD,
]);

/// What the counter of tokens takes.
pub(super) static COUNT: Kind = Kind::Object(&[
    need("model", Kind::Text),
    MESSAGES,
    SYSTEM,
    TOOLS,
    TOOL_CHOICE,
    THINKING,
    OUTPUT_CONFIG,
    CACHE_CONTROL,
    CONTEXT_MANAGEMENT,
    SPEED,
    may("mcp_servers", Kind::List(&Kind::Open)),
]);

const MESSAGES: Field = need("messages", Kind::List(&MESSAGE));
const SYSTEM: Field = may("system", Kind::Either(&[Kind::Text, Kind::List(&TEXT_BLOCK)]));
const SPEED: Field = may("speed", Kind::Word(&["standard", "fast"]));
const CONTEXT_MANAGEMENT: Field = may("context_management", Kind::Open);

const CACHE_CONTROL: Field = may(
    "cache_control",
    Kind::Object(&[
        need("type", Kind::Word(&["ephemeral"])),
        may("ttl", Kind::Word(&["5m", "1h"])),
        may("scope", Kind::Text),
    ]),
);

const THINKING: Field = may(
    "thinking",
    Kind::Tagged(
        "type",
        &[
            Variant("enabled", &[need("budget_tokens", Kind::Integer(1024, i64::MAX)), DISPLAY]),
            Variant("adaptive", &[DISPLAY]),
            Variant("between_tools", &[DISPLAY]),
            Variant("disabled", &[]),
        ],
    ),
);
const DISPLAY: Field = may("display", Kind::Word(&["summarized", "omitted", "updates"]));

const OUTPUT_CONFIG: Field = may(
    "output_config",
    Kind::Object(&[
        may("effort", Kind::Word(&["low", "medium", "high", "xhigh", "max"])),
        may(
            "format",
            Kind::Tagged("type", &[Variant("json_schema", &[need("schema", Kind::Open)])]),
        ),
        may("task_budget", Kind::Open),
    ]),
);

/// What `output_config.format` was called while it was a beta; only with the beta's header.
pub(super) const OLD_FORMAT: &str = "output_format";
const FORMAT_OF_OLD: Field =
    may(OLD_FORMAT, Kind::Tagged("type", &[Variant("json_schema", &[need("schema", Kind::Open)])]));

/// A conversation that the vendor holds; only with the beta's header.
pub(super) const THREAD: &str = "thread";
const THREAD_HELD: Field = may(
    THREAD,
    Kind::Tagged(
        "type",
        &[Variant("create", &[]), Variant("continue", &[need("previous_message_id", Kind::Text)])],
    ),
);

const TOOL_CHOICE: Field = may(
    "tool_choice",
    Kind::Tagged(
        "type",
        &[
            Variant("auto", &[SERIAL]),
            Variant("any", &[SERIAL]),
            Variant("tool", &[need("name", Kind::Text), SERIAL]),
            Variant("none", &[]),
        ],
    ),
);
const SERIAL: Field = may("disable_parallel_tool_use", Kind::Boolean);

/// Client tools are told apart from Anthropic's own by their `type`, which they may leave out.
const TOOLS: Field = may("tools", Kind::List(&Kind::Open));

pub(super) static CLIENT_TOOL: Kind = Kind::Object(&[
    need("name", Kind::Text),
    may("description", Kind::Text),
    need("input_schema", Kind::Open),
    may("type", Kind::Word(&["custom"])),
    may("strict", Kind::Boolean),
    CACHE_CONTROL,
    may("input_examples", Kind::List(&Kind::Open)),
    may("eager_input_streaming", Kind::Boolean),
    may("defer_loading", Kind::Boolean),
    may("allowed_callers", Kind::List(&Kind::Text)),
]);

/// Beginnings of the types of the tools that Anthropic defines.
pub(super) const DEFINED_TOOLS: [&str; 13] = [
    "bash_20",
    "text_editor_20",
    "memory_20",
    "computer_20",
    "computer_toolset_20",
    "browser_toolset_20",
    "web_search_20",
    "web_fetch_20",
    "code_execution_20",
    "tool_search_tool_regex",
    "tool_search_tool_bm25",
    "mcp_toolset",
    "advisor_20",
];

const MESSAGE: Kind = Kind::Tagged(
    "role",
    &[
        Variant("user", &[need("content", Kind::Either(&[Kind::Text, Kind::List(&USER_BLOCK)]))]),
        Variant(
            "assistant",
            &[need("content", Kind::Either(&[Kind::Text, Kind::List(&ASSISTANT_BLOCK)]))],
        ),
        Variant("system", &[need("content", Kind::Either(&[Kind::Text, Kind::List(&TEXT_BLOCK)]))]),
    ],
);

const TEXT: &[Field] =
    &[need("text", Kind::Text), CACHE_CONTROL, may("citations", Kind::List(&Kind::Open))];
const TEXT_BLOCK: Kind = Kind::Tagged("type", &[Variant("text", TEXT)]);

const IMAGE: &[Field] = &[
    need(
        "source",
        Kind::Tagged(
            "type",
            &[
                Variant(
                    "base64",
                    &[
                        need(
                            "media_type",
                            Kind::Word(&["image/jpeg", "image/png", "image/gif", "image/webp"]),
                        ),
                        need("data", Kind::Text),
                    ],
                ),
                Variant("url", &[need("url", Kind::Text)]),
                Variant("file", &[need("file_id", Kind::Text)]),
            ],
        ),
    ),
    may("transformations", Kind::Open),
    CACHE_CONTROL,
];

const DOCUMENT: &[Field] = &[
    need(
        "source",
        Kind::Tagged(
            "type",
            &[
                Variant(
                    "base64",
                    &[
                        need("media_type", Kind::Word(&["application/pdf"])),
                        need("data", Kind::Text),
                    ],
                ),
                Variant(
                    "text",
                    &[need("media_type", Kind::Word(&["text/plain"])), need("data", Kind::Text)],
                ),
                Variant("url", &[need("url", Kind::Text)]),
                Variant("file", &[need("file_id", Kind::Text)]),
                Variant(
                    "content",
                    &[need("content", Kind::Either(&[Kind::Text, Kind::List(&Kind::Open)]))],
                ),
            ],
        ),
    ),
    may("title", Kind::Text),
    may("context", Kind::Text),
    CITED,
    CACHE_CONTROL,
];

const CITED: Field = may("citations", Kind::Object(&[may("enabled", Kind::Boolean)]));

const SEARCH_RESULT: &[Field] = &[
    need("source", Kind::Text),
    need("title", Kind::Text),
    need("content", Kind::List(&TEXT_BLOCK)),
    CITED,
    CACHE_CONTROL,
];

const USER_BLOCK: Kind = Kind::Tagged(
    "type",
    &[
        Variant("text", TEXT),
        Variant("image", IMAGE),
        Variant("document", DOCUMENT),
        Variant("search_result", SEARCH_RESULT),
        Variant(
            "tool_result",
            &[
                need("tool_use_id", Kind::Text),
                may("content", Kind::Either(&[Kind::Text, Kind::List(&RESULT_BLOCK)])),
                may("is_error", Kind::Boolean),
                may("toolset_name", Kind::Text),
                CACHE_CONTROL,
            ],
        ),
        Variant("container_upload", &[need("file_id", Kind::Text), CACHE_CONTROL]),
    ],
);

const RESULT_BLOCK: Kind = Kind::Tagged(
    "type",
    &[
        Variant("text", TEXT),
        Variant("image", IMAGE),
        Variant("document", DOCUMENT),
        Variant("search_result", SEARCH_RESULT),
        Variant("tool_reference", &[rest()]),
        Variant("browser_state", &[rest()]),
    ],
);

const SERVER_RESULT: &[Field] = &[
    need("tool_use_id", Kind::Text),
    need("content", Kind::Any),
    may("caller", Kind::Open),
    CACHE_CONTROL,
];

const ASSISTANT_BLOCK: Kind = Kind::Tagged(
    "type",
    &[
        Variant("text", TEXT),
        Variant("document", DOCUMENT),
        Variant("thinking", &[need("thinking", Kind::Text), need("signature", Kind::Text)]),
        Variant("redacted_thinking", &[need("data", Kind::Text)]),
        Variant(
            "tool_use",
            &[
                need("id", Kind::Text),
                need("name", Kind::Text),
                need("input", Kind::Open),
                may("caller", Kind::Open),
                may("toolset_name", Kind::Text),
                CACHE_CONTROL,
            ],
        ),
        Variant(
            "server_tool_use",
            &[
                need("id", Kind::Text),
                need("name", Kind::Text),
                need("input", Kind::Open),
                may("caller", Kind::Open),
                CACHE_CONTROL,
            ],
        ),
        Variant("web_search_tool_result", SERVER_RESULT),
        Variant("web_fetch_tool_result", SERVER_RESULT),
        Variant("code_execution_tool_result", SERVER_RESULT),
        Variant("bash_code_execution_tool_result", SERVER_RESULT),
        Variant("text_editor_code_execution_tool_result", SERVER_RESULT),
        Variant("tool_search_tool_result", SERVER_RESULT),
        Variant("mcp_tool_use", &[rest()]),
        Variant("mcp_tool_result", &[rest()]),
        Variant("container_upload", &[need("file_id", Kind::Text), CACHE_CONTROL]),
    ],
);
