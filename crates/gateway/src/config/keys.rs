//! Every key that a config file may have. The reader refuses the others, and a test holds the manual against this table.

/// The keys of one kind of table.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// How the manual and the messages call the table: `[[provider]]`.
    pub table: &'static str,
    pub names: &'static [&'static str],
}

pub const TOP: Keys = Keys {
    table: "the top level",
    names: &[
        "listen",
        "open_bind",
        "env_providers",
        "repair",
        "allowed_hosts",
        "cors_origins",
        "provider",
        "model",
        "auth",
        "limits",
        "log",
        "store",
        "compaction",
        "route",
        "tools",
        "family",
    ],
};

pub const PROVIDER: Keys = Keys {
    table: "[[provider]]",
    names: &[
        "preset",
        "name",
        "protocol",
        "base_url",
        "api_key",
        "models",
        "headers",
        "dialect",
        "connect_timeout",
        "first_byte_timeout",
        "idle_timeout",
        "retries",
        "max_in_flight",
        "late_system",
        "max_output_tokens",
        "context_window",
        "cache",
        "version",
        "ca_file",
        "client_certificate",
        "client_key",
        "agent",
        "command",
        "mode",
        "folder",
        "permissions",
        "login",
        "env",
        "history",
        "max_bytes",
        "processes_max",
        "warm",
        "idle",
        "deadline",
        "first_event_timeout",
    ],
};

/// Those of a provider that only an agent has.
pub(super) fn of_agent() -> &'static [&'static str] {
    let first = PROVIDER.names.iter().position(|name| *name == "agent");
    &PROVIDER.names[first.unwrap_or(PROVIDER.names.len())..]
}

pub const MODEL: Keys = Keys {
    table: "[[model]]",
    names: &[
        "name",
        "strategy",
        "context_window",
        "targets",
        "classes",
        "class_strategy",
        "sticky",
        "tools",
    ],
};

pub const CLASSES: Keys = Keys {
    table: "[model.classes]",
    names: &[
        "multimodal",
        "vision",
        "long_context",
        "web_search",
        "thinking",
        "coding",
        "search",
        "tools",
        "background",
        "default",
    ],
};

pub const TARGET: Keys =
    Keys { table: "a target of [[model]]", names: &["provider", "model", "weight"] };

pub const SECRET: Keys = Keys { table: "a key", names: &["env", "file", "value"] };

pub const AUTH: Keys = Keys { table: "[auth]", names: &["required", "key"] };

pub const AUTH_KEY: Keys =
    Keys { table: "[[auth.key]]", names: &["name", "value", "admin", "tools"] };

pub const LIMITS: Keys = Keys {
    table: "[limits]",
    names: &[
        "max_body_size",
        "max_header_size",
        "max_answer_size",
        "max_frame_size",
        "bodies_bytes_max",
        "max_connections",
        "max_requests",
        "max_stream_duration",
        "shutdown_grace",
        "max_queue",
        "max_queue_wait",
        "max_background",
        "max_background_duration",
        "max_socket_duration",
        "max_socket_silence",
        "header_read_timeout",
        "write_timeout",
    ],
};

pub const LOG: Keys = Keys { table: "[log]", names: &["level", "format"] };

pub const STORE: Keys = Keys { table: "[store]", names: &["url", "record", "keep"] };

pub const ROUTE: Keys =
    Keys { table: "[route]", names: &["background", "web_search", "negations"] };

pub const COMPACTION: Keys =
    Keys { table: "[compaction]", names: &["model", "prompt_file", "auto", "at", "keep_turns"] };

pub const TOOLS: Keys = Keys {
    table: "[tools]",
    names: &[
        "allow",
        "deny",
        "rename",
        "count_max",
        "schema_bytes_max",
        "result_bytes_max",
        "long_names",
        "arguments",
        "undeclared",
        "hosted",
        "rounds_max",
    ],
};

pub const FAMILY: Keys = Keys {
    table: "[[family]]",
    names: &["match", "context_window", "max_output_tokens", "inputs", "structured_output"],
};

/// All tables, in the order of the manual.
pub const ALL: [Keys; 15] = [
    TOP, PROVIDER, SECRET, MODEL, TARGET, CLASSES, ROUTE, FAMILY, TOOLS, AUTH, AUTH_KEY, LIMITS,
    LOG, STORE, COMPACTION,
];
