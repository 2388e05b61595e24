//! What holds where nobody decides: values that suit one person on one machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use sabir_backend::Secret;
use sabir_compose::govern::RuleTable;
use sabir_store::Keep;
use sabir_wire::target::{CacheMarkers, LateSystem};

use crate::config::types::{
    Auth, AutoCompaction, Classing, Compaction, Config, Endpoint, Level, Limits, Log, LogFormat,
    Provider, Repair, Store, StoreAccess, Substitution, Timeouts,
};

const MIB: usize = 1024 * 1024;

/// Where the gateway listens unless told otherwise: this machine alone.
pub const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 4747);

/// How often a provider is asked again unless told otherwise.
pub(super) const RETRIES: u32 = 1;

impl Default for Config {
    /// Nothing but defaults: no provider yet, and nothing substituted.
    fn default() -> Self {
        Self {
            listen: LISTEN,
            open_bind: false,
            providers: Vec::new(),
            models: Vec::new(),
            substitution: Substitution::Off,
            auth: Auth::default(),
            limits: Limits::default(),
            log: Log::default(),
            store: Store::default(),
            compaction: Compaction::default(),
            classing: Classing::default(),
            tools: RuleTable::default(),
            repair: Repair::Translated,
            allowed_hosts: Vec::new(),
            cors_origins: Vec::new(),
        }
    }
}

impl Default for Compaction {
    fn default() -> Self {
        Self {
            model: None,
            prompt: None,
            auto: AutoCompaction::Fit,
            at_thousandths: 700,
            keep_turns: 6,
        }
    }
}

impl Provider {
    /// A provider with nothing but a name and places, everything else by default.
    pub fn new(name: &str, endpoints: Vec<Endpoint>) -> Self {
        Self {
            name: name.to_owned(),
            endpoints,
            keys: Vec::new(),
            claims: Vec::new(),
            headers: Vec::new(),
            dialect: None,
            timeouts: Timeouts::default(),
            retries: RETRIES,
            max_in_flight: None,
            late_system: LateSystem::default(),
            max_output_tokens: None,
            context_window: None,
            cache: CacheMarkers::Auto,
            version: None,
            tls: None,
            families: Arc::new([]),
            default_model: None,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // A model may think for minutes before a whole answer's first byte.
            first_byte: Duration::from_secs(600),
            idle: Duration::from_secs(120),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes_max: 64 * MIB,
            header_bytes_max: 64 * 1024,
            answer_bytes_max: 64 * MIB,
            frame_bytes_max: 32 * MIB,
            // Four of the largest bodies, or a thousand of those that agents send.
            bodies_bytes_max: 256 * MIB,
            // More than requests, so that those beyond their limit get an error with a message.
            connections_max: 12_000,
            requests_max: 10_000,
            stream_duration_max: Duration::from_secs(60 * 60),
            shutdown_grace: Duration::from_secs(30),
            queue_max: 1_000,
            queue_wait_max: Duration::from_secs(30),
            jobs_max: 256,
            job_duration_max: Duration::from_secs(60 * 60),
            socket_duration_max: Duration::from_secs(60 * 60),
            socket_silence_max: Duration::from_secs(90),
            // The HTTP library counts the wait for the next request on a kept connection under it.
            header_read_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
        }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { level: "info".to_owned(), format: LogFormat::Text }
    }
}

impl Default for Store {
    fn default() -> Self {
        Self {
            url: Secret::new("sqlite:"),
            record: Level::Stateful,
            keep: Keep::For(Duration::from_secs(30 * 24 * 60 * 60)),
            data_folder: None,
            access: StoreAccess::default(),
        }
    }
}
