//! The request bodies of Responses, as tables.

use crate::sim::shape::{Field, Kind, Variant, may, need, rest};

pub(super) static BODY: Kind = Kind::Object(&[
    need("model", Kind::Text),
    INPUT,
    may("instructions", Kind::Text),
    may("previous_response_id", Kind::Text),
    may("conversation", Kind::Either(&[Kind::Text, Kind::Open])),
    may("store", Kind::Boolean),
    may("background", Kind::Boolean),
    may(
        "include",
        Kind::List(&Kind::Word(&[
            "file_search_call.results",
            "web_search_call.results",
            "web_search_call.action.sources",
            "message.input_image.image_url",
            "computer_call_output.output.image_url",
            "code_interpreter_call.outputs",
            "reasoning.encrypted_content",
            "message.output_text.logprobs",
        ])),
    ),
    may("max_output_tokens", Kind::Integer(16, i64::MAX)),
    may("max_tool_calls", Kind::Integer(0, i64::MAX)),
    may("parallel_tool_calls", Kind::Boolean),
    REASONING,
    TEXT,
    may("temperature", Kind::Number(0.0, 2.0)),
    may("top_p", Kind::Number(0.0, 1.0)),
    may("top_logprobs", Kind::Integer(0, 20)),
    TOOLS,
    TOOL_CHOICE,
    may("truncation", Kind::Word(&["disabled", "auto"])),
    may("context_management", Kind::List(&Kind::Open)),
    may("metadata", Kind::Map(&Kind::Text)),
    may("prompt", Kind::Open),
    may("prompt_cache_key", Kind::Text),
    may("prompt_cache_options", Kind::Open),
    may("prompt_cache_retention", Kind::Word(&["in_memory", "in-memory", "24h"])),
    may("safety_identifier", Kind::Text),
    may("user", Kind::Text),
    may(
        "service_tier",
        Kind::Word(&["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"]),
    ),
    may("stream", Kind::Boolean),
    may("stream_options", Kind::Object(&[may("include_obfuscation", Kind::Boolean)])),
    may("moderation", Kind::Open),
    may("access_programs", Kind::Open),
    may("image", Kind::Open),
    // Codex sends it, and the real API takes it.
    may("client_metadata", Kind::Open),
]);

/// What the counter of tokens takes.
pub(super) static COUNT: Kind = Kind::Object(&[
    may("model", Kind::Text),
    INPUT,
    may("instructions", Kind::Text),
    may("previous_response_id", Kind::Text),
    may("conversation", Kind::Either(&[Kind::Text, Kind::Open])),
    may("parallel_tool_calls", Kind::Boolean),
    REASONING,
    TEXT,
    TOOLS,
    TOOL_CHOICE,
    may("truncation", Kind::Word(&["disabled", "auto"])),
    may("personality", Kind::Text),
]);

const INPUT: Field = may("input", Kind::Either(&[Kind::Text, Kind::List(&ITEM)]));

const REASONING: Field = may(
    "reasoning",
    Kind::Object(&[
        may("effort", Kind::Word(&["none", "minimal", "low", "medium", "high", "xhigh", "max"])),
        may("summary", Kind::Word(&["auto", "concise", "detailed"])),
        may("generate_summary", Kind::Word(&["auto", "concise", "detailed"])),
        may("context", Kind::Word(&["auto", "current_turn", "all_turns"])),
        may("mode", Kind::Word(&["standard", "pro"])),
    ]),
);

const TEXT: Field = may(
    "text",
    Kind::Object(&[
        may(
            "format",
            Kind::Tagged(
                "type",
                &[
                    Variant("text", &[]),
                    Variant("json_object", &[]),
                    Variant(
                        "json_schema",
                        &[
                            need("name", Kind::Text),
                            need("schema", Kind::Open),
                            may("description", Kind::Text),
                            may("strict", Kind::Boolean),
                        ],
                    ),
                ],
            ),
        ),
        may("verbosity", Kind::Word(&["low", "medium", "high"])),
    ]),
);

const TOOL_CHOICE: Field = may(
    "tool_choice",
    Kind::Either(&[
        Kind::Word(&["none", "auto", "required"]),
        Kind::Tagged(
            "type",
            &[
                Variant("function", &[need("name", Kind::Text)]),
                Variant("custom", &[need("name", Kind::Text)]),
                Variant("mcp", &[need("server_label", Kind::Text), may("name", Kind::Text)]),
                Variant(
                    "allowed_tools",
                    &[
                        need("mode", Kind::Word(&["auto", "required"])),
                        need("tools", Kind::List(&Kind::Open)),
                    ],
                ),
                Variant("file_search", &[]),
                Variant("web_search", &[]),
                Variant("web_search_preview", &[]),
                Variant("web_search_preview_2025_03_11", &[]),
                Variant("computer", &[]),
                Variant("computer_use", &[]),
                Variant("computer_use_preview", &[]),
                Variant("image_generation", &[]),
                Variant("code_interpreter", &[]),
                Variant("apply_patch", &[]),
                Variant("shell", &[]),
                Variant("programmatic_tool_calling", &[]),
            ],
        ),
    ]),
);

const TOOLS: Field = may("tools", Kind::List(&TOOL));

const FUNCTION: &[Field] = &[
    need("name", Kind::Text),
    may("parameters", Kind::Open),
    may("strict", Kind::Boolean),
    may("description", Kind::Text),
    may("defer_loading", Kind::Boolean),
    may("output_schema", Kind::Open),
    may("allowed_callers", Kind::List(&Kind::Text)),
    may("async", Kind::Boolean),
];

const CUSTOM: &[Field] = &[
    need("name", Kind::Text),
    may("description", Kind::Text),
    may(
        "format",
        Kind::Tagged(
            "type",
            &[
                Variant("text", &[]),
                Variant(
                    "grammar",
                    &[
                        need("definition", Kind::Text),
                        need("syntax", Kind::Word(&["lark", "regex"])),
                    ],
                ),
            ],
        ),
    ),
    may("defer_loading", Kind::Boolean),
    may("allowed_callers", Kind::List(&Kind::Text)),
];

const TOOL: Kind = Kind::Tagged(
    "type",
    &[
        Variant("function", FUNCTION),
        Variant("custom", CUSTOM),
        Variant(
            "namespace",
            &[
                need("name", Kind::Text),
                need("description", Kind::Text),
                need("tools", Kind::List(&INNER_TOOL)),
            ],
        ),
        Variant("web_search", WEB_SEARCH),
        Variant("web_search_2025_08_26", WEB_SEARCH),
        Variant("web_search_preview", WEB_SEARCH_PREVIEW),
        Variant("web_search_preview_2025_03_11", WEB_SEARCH_PREVIEW),
        Variant("file_search", &[need("vector_store_ids", Kind::List(&Kind::Text)), rest()]),
        Variant(
            "code_interpreter",
            &[need("container", Kind::Either(&[Kind::Text, Kind::Open])), rest()],
        ),
        Variant("image_generation", &[rest()]),
        Variant("computer", &[rest()]),
        Variant("computer_use_preview", &[rest()]),
        Variant("local_shell", &[rest()]),
        Variant("shell", &[rest()]),
        Variant("apply_patch", &[rest()]),
        Variant("mcp", &[need("server_label", Kind::Text), rest()]),
        Variant("tool_search", &[rest()]),
        Variant("programmatic_tool_calling", &[rest()]),
    ],
);

const INNER_TOOL: Kind =
    Kind::Tagged("type", &[Variant("function", FUNCTION), Variant("custom", CUSTOM)]);

const ID: Field = may("id", Kind::Text);
const STATUS: Field = may("status", Kind::Word(&["in_progress", "completed", "incomplete"]));
const CALLER: Field = may("caller", Kind::Open);
const BREAKPOINT: Field = may(
    "prompt_cache_breakpoint",
    Kind::Object(&[
        need("mode", Kind::Word(&["explicit"])),
        may("ttl", Kind::Word(&["30m", "12h"])),
    ]),
);

const ITEM: Kind = Kind::Tagged(
    "type",
    &[
        Variant(
            "message",
            &[
                need("role", Kind::Word(&["user", "assistant", "system", "developer"])),
                need("content", Kind::Either(&[Kind::Text, Kind::List(&PART)])),
                may("phase", Kind::Word(&["commentary", "final_answer"])),
                ID,
                STATUS,
            ],
        ),
        Variant(
            "function_call",
            &[
                need("call_id", Kind::Text),
                need("name", Kind::Text),
                need("arguments", Kind::Text),
                may("namespace", Kind::Text),
                may("async", Kind::Boolean),
                ID,
                STATUS,
                CALLER,
            ],
        ),
        Variant("function_call_output", OUTPUT),
        Variant(
            "custom_tool_call",
            &[
                need("call_id", Kind::Text),
                need("name", Kind::Text),
                need("input", Kind::Text),
                may("namespace", Kind::Text),
                ID,
                STATUS,
                CALLER,
            ],
        ),
        Variant("custom_tool_call_output", OUTPUT),
        Variant(
            "reasoning",
            &[
                ID,
                need(
                    "summary",
                    Kind::List(&Kind::Tagged(
                        "type",
                        &[Variant("summary_text", &[need("text", Kind::Text)])],
                    )),
                ),
                may(
                    "content",
                    Kind::List(&Kind::Tagged(
                        "type",
                        &[Variant("reasoning_text", &[need("text", Kind::Text)])],
                    )),
                ),
                may("encrypted_content", Kind::Text),
                STATUS,
            ],
        ),
        Variant("item_reference", &[need("id", Kind::Text)]),
        Variant("compaction", &[rest()]),
        Variant("compaction_trigger", &[rest()]),
        Variant("configuration_update", &[rest()]),
        Variant("additional_tools", &[rest()]),
        Variant("web_search_call", &[rest()]),
        Variant("file_search_call", &[rest()]),
        Variant("code_interpreter_call", &[rest()]),
        Variant("image_generation_call", &[rest()]),
        Variant("computer_call", &[rest()]),
        Variant("computer_call_output", &[rest()]),
        Variant("local_shell_call", &[rest()]),
        Variant("local_shell_call_output", &[rest()]),
        Variant("shell_call", &[rest()]),
        Variant("shell_call_output", &[rest()]),
        Variant("apply_patch_call", &[rest()]),
        Variant("apply_patch_call_output", &[rest()]),
        Variant("mcp_list_tools", &[rest()]),
        Variant("mcp_approval_request", &[rest()]),
        Variant("mcp_approval_response", &[rest()]),
        Variant("mcp_call", &[rest()]),
        Variant("tool_search_call", &[rest()]),
        Variant("tool_search_output", &[rest()]),
        Variant("program", &[rest()]),
        Variant("program_output", &[rest()]),
    ],
);

const OUTPUT: &[Field] = &[
    need("call_id", Kind::Text),
    need("output", Kind::Either(&[Kind::Text, Kind::List(&INPUT_PART)])),
    may("name", Kind::Text),
    may("namespace", Kind::Text),
    ID,
    STATUS,
    CALLER,
];

const INPUT_TEXT: &[Field] = &[need("text", Kind::Text), BREAKPOINT];
const INPUT_IMAGE: &[Field] = &[
    may("detail", Kind::Word(&["low", "high", "auto", "original"])),
    may("image_url", Kind::Text),
    may("file_id", Kind::Text),
    BREAKPOINT,
];
const INPUT_FILE: &[Field] = &[
    may("file_id", Kind::Text),
    may("file_url", Kind::Text),
    may("filename", Kind::Text),
    may("file_data", Kind::Text),
    may("detail", Kind::Word(&["auto", "low", "high"])),
    BREAKPOINT,
];

const INPUT_PART: Kind = Kind::Tagged(
    "type",
    &[
        Variant("input_text", INPUT_TEXT),
        Variant("input_image", INPUT_IMAGE),
        Variant("input_file", INPUT_FILE),
    ],
);

const PART: Kind = Kind::Tagged(
    "type",
    &[
        Variant("input_text", INPUT_TEXT),
        Variant("input_image", INPUT_IMAGE),
        Variant("input_file", INPUT_FILE),
        Variant(
            "output_text",
            &[
                need("text", Kind::Text),
                may("annotations", Kind::List(&Kind::Open)),
                may("logprobs", Kind::List(&Kind::Open)),
            ],
        ),
        Variant("refusal", &[need("refusal", Kind::Text)]),
    ],
);

const CONTEXT_SIZE: Kind = Kind::Word(&["low", "medium", "high"]);

const LOCATION: Kind = Kind::Object(&[
    need("type", Kind::Word(&["approximate"])),
    may("city", Kind::Text),
    may("country", Kind::Text),
    may("region", Kind::Text),
    may("timezone", Kind::Text),
]);

const WEB_SEARCH: &[Field] = &[
    may("external_web_access", Kind::Boolean),
    may("filters", Kind::Object(&[may("allowed_domains", Kind::List(&Kind::Text))])),
    may("search_context_size", CONTEXT_SIZE),
    may("user_location", LOCATION),
];

const WEB_SEARCH_PREVIEW: &[Field] = &[
    may("search_content_types", Kind::List(&Kind::Text)),
    may("search_context_size", CONTEXT_SIZE),
    may("user_location", LOCATION),
];
