//! The request body of Chat Completions, as tables.

use crate::sim::shape::{Field, Kind, Variant, may, need};

const INTEGER: Kind = Kind::Integer(i64::MIN, i64::MAX);
const TOKENS: Kind = Kind::Integer(1, i64::MAX);

pub(super) static BODY: Kind = Kind::Object(&[
    need("model", Kind::Text),
    need("messages", Kind::List(&MESSAGE)),
    may(
        "audio",
        Kind::Object(&[
            need("format", Kind::Text),
            need("voice", Kind::Either(&[Kind::Text, Kind::Open])),
        ]),
    ),
    may("frequency_penalty", Kind::Number(-2.0, 2.0)),
    may("presence_penalty", Kind::Number(-2.0, 2.0)),
    may("function_call", Kind::Either(&[Kind::Word(&["none", "auto"]), NAME])),
    may("functions", Kind::List(&FUNCTION)),
    may("logit_bias", Kind::Map(&Kind::Number(-100.0, 100.0))),
    may("logprobs", Kind::Boolean),
    may("top_logprobs", Kind::Integer(0, 20)),
    may("max_completion_tokens", TOKENS),
    may("max_tokens", TOKENS),
    may("metadata", Kind::Map(&Kind::Text)),
    may("modalities", Kind::List(&Kind::Word(&["text", "audio"]))),
    may("moderation", Kind::Open),
    may("n", Kind::Integer(1, 128)),
    may("parallel_tool_calls", Kind::Boolean),
    may(
        "prediction",
        Kind::Object(&[
            need("type", Kind::Word(&["content"])),
            need("content", Kind::Either(&[Kind::Text, Kind::List(&TEXT_PART)])),
        ]),
    ),
    may("prompt_cache_key", Kind::Text),
    may(
        "prompt_cache_options",
        Kind::Object(&[may("mode", Kind::Word(&["implicit", "explicit"])), may("ttl", Kind::Text)]),
    ),
    may("prompt_cache_retention", Kind::Word(&["in_memory", "in-memory", "24h"])),
    may(
        "reasoning_effort",
        Kind::Word(&["none", "minimal", "low", "medium", "high", "xhigh", "max"]),
    ),
    may(
        "response_format",
        Kind::Tagged(
            "type",
            &[
                Variant("text", &[]),
                Variant("json_object", &[]),
                Variant(
                    "json_schema",
                    &[need(
                        "json_schema",
                        Kind::Object(&[
                            need("name", Kind::Text),
                            may("description", Kind::Text),
                            may("schema", Kind::Open),
                            may("strict", Kind::Boolean),
                        ]),
                    )],
                ),
            ],
        ),
    ),
    may("safety_identifier", Kind::Text),
    may("seed", INTEGER),
    may("service_tier", Kind::Word(&["auto", "default", "flex", "scale", "priority", "fast"])),
    may("stop", Kind::Either(&[Kind::Text, Kind::List(&Kind::Text)])),
    may("store", Kind::Boolean),
    may("stream", Kind::Boolean),
    may(
        "stream_options",
        Kind::Object(&[
            may("include_usage", Kind::Boolean),
            may("include_obfuscation", Kind::Boolean),
        ]),
    ),
    may("temperature", Kind::Number(0.0, 2.0)),
    may("top_p", Kind::Number(0.0, 1.0)),
    may(
        "tools",
        Kind::List(&Kind::Tagged(
            "type",
            &[
                Variant("function", &[need("function", FUNCTION)]),
                Variant(
                    "custom",
                    &[need(
                        "custom",
                        Kind::Object(&[
                            need("name", Kind::Text),
                            may("description", Kind::Text),
                            may("format", FORMAT),
                        ]),
                    )],
                ),
            ],
        )),
    ),
    may(
        "tool_choice",
        Kind::Either(&[
            Kind::Word(&["none", "auto", "required"]),
            Kind::Tagged(
                "type",
                &[
                    Variant("function", &[need("function", NAME)]),
                    Variant("custom", &[need("custom", NAME)]),
                    Variant(
                        "allowed_tools",
                        &[need(
                            "allowed_tools",
                            Kind::Object(&[
                                need("mode", Kind::Word(&["auto", "required"])),
                                need("tools", Kind::List(&Kind::Open)),
                            ]),
                        )],
                    ),
                ],
            ),
        ]),
    ),
    may("user", Kind::Text),
    may("verbosity", Kind::Word(&["low", "medium", "high"])),
    may("web_search_options", WEB_SEARCH_OPTIONS),
]);

const WEB_SEARCH_OPTIONS: Kind = Kind::Object(&[
    may("search_context_size", Kind::Word(&["low", "medium", "high"])),
    may(
        "user_location",
        Kind::Object(&[
            need("type", Kind::Word(&["approximate"])),
            need(
                "approximate",
                Kind::Object(&[
                    may("city", Kind::Text),
                    may("country", Kind::Text),
                    may("region", Kind::Text),
                    may("timezone", Kind::Text),
                ]),
            ),
        ]),
    ),
]);

const NAME: Kind = Kind::Object(&[need("name", Kind::Text)]);

const FUNCTION: Kind = Kind::Object(&[
    need("name", Kind::Text),
    may("description", Kind::Text),
    may("parameters", Kind::Open),
    may("strict", Kind::Boolean),
]);

const FORMAT: Kind = Kind::Tagged(
    "type",
    &[
        Variant("text", &[]),
        Variant(
            "grammar",
            &[need(
                "grammar",
                Kind::Object(&[
                    need("definition", Kind::Text),
                    need("syntax", Kind::Word(&["lark", "regex"])),
                ]),
            )],
        ),
    ],
);

const MESSAGE: Kind = Kind::Tagged(
    "role",
    &[
        Variant("developer", &[need("content", TEXTS), may("name", Kind::Text)]),
        Variant("system", &[need("content", TEXTS), may("name", Kind::Text)]),
        Variant(
            "user",
            &[
                need("content", Kind::Either(&[Kind::Text, Kind::List(&USER_PART)])),
                may("name", Kind::Text),
            ],
        ),
        Variant(
            "assistant",
            &[
                may("content", Kind::Either(&[Kind::Text, Kind::List(&ASSISTANT_PART)])),
                may("refusal", Kind::Text),
                may("tool_calls", Kind::List(&CALL)),
                may(
                    "function_call",
                    Kind::Object(&[need("name", Kind::Text), need("arguments", Kind::Text)]),
                ),
                may("audio", Kind::Object(&[need("id", Kind::Text)])),
                may("annotations", Kind::List(&Kind::Open)),
                may("name", Kind::Text),
            ],
        ),
        Variant("tool", &[need("content", TEXTS), need("tool_call_id", Kind::Text)]),
        Variant("function", &[may("content", Kind::Text), need("name", Kind::Text)]),
    ],
);

const TEXTS: Kind = Kind::Either(&[Kind::Text, Kind::List(&TEXT_PART)]);
const BREAKPOINT: Field = may(
    "prompt_cache_breakpoint",
    Kind::Object(&[
        need("mode", Kind::Word(&["explicit"])),
        may("ttl", Kind::Word(&["30m", "12h"])),
    ]),
);

const TEXT_PART: Kind = Kind::Tagged("type", &[Variant("text", TEXT)]);
const TEXT: &[Field] = &[need("text", Kind::Text), BREAKPOINT];

const ASSISTANT_PART: Kind = Kind::Tagged(
    "type",
    &[Variant("text", TEXT), Variant("refusal", &[need("refusal", Kind::Text)])],
);

const USER_PART: Kind = Kind::Tagged(
    "type",
    &[
        Variant("text", TEXT),
        Variant(
            "image_url",
            &[
                need(
                    "image_url",
                    Kind::Object(&[
                        need("url", Kind::Text),
                        may("detail", Kind::Word(&["auto", "low", "high", "original"])),
                    ]),
                ),
                BREAKPOINT,
            ],
        ),
        Variant(
            "input_audio",
            &[
                need(
                    "input_audio",
                    Kind::Object(&[
                        need("data", Kind::Text),
                        need("format", Kind::Word(&["wav", "mp3"])),
                    ]),
                ),
                BREAKPOINT,
            ],
        ),
        Variant(
            "file",
            &[
                need(
                    "file",
                    Kind::Object(&[
                        may("file_id", Kind::Text),
                        may("filename", Kind::Text),
                        may("file_data", Kind::Text),
                    ]),
                ),
                BREAKPOINT,
            ],
        ),
    ],
);

const CALL: Kind = Kind::Tagged(
    "type",
    &[
        Variant(
            "function",
            &[
                need("id", Kind::Text),
                need(
                    "function",
                    Kind::Object(&[need("name", Kind::Text), need("arguments", Kind::Text)]),
                ),
            ],
        ),
        Variant(
            "custom",
            &[
                need("id", Kind::Text),
                need(
                    "custom",
                    Kind::Object(&[need("name", Kind::Text), need("input", Kind::Text)]),
                ),
            ],
        ),
    ],
);
