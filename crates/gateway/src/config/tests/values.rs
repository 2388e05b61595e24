//! What is read from files that are right.

use std::fs;
use std::path::Path;
use std::time::Duration;

use sabir_wire::Protocol;
use sabir_wire::target::{Dialect, LateSystem};

use super::read;
use crate::config::parse;
use crate::config::types::{
    Config, Limits, Location, LogFormat, Provider, Repair, Strategy, Substitution, Timeouts,
};

#[track_caller]
fn config(text: &str) -> Config {
    read(text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn names(config: &Config) -> Vec<&str> {
    config.providers.iter().map(|provider| provider.name.as_str()).collect()
}

/// The endpoints of a provider as `protocol url`.
fn places(provider: &Provider) -> Vec<String> {
    let place = |place: &Location| match place {
        Location::Url(url) => url.to_string(),
        Location::Simulator | Location::Agent(_) => "simulator".to_owned(),
    };
    let endpoints = provider.endpoints.iter();
    endpoints.map(|it| format!("{} {}", it.protocol.as_str(), place(&it.place))).collect()
}

#[test]
fn an_empty_file_is_all_defaults_without_substitution() {
    let config = config("");
    assert_eq!(config.listen.to_string(), "127.0.0.1:4747");
    assert_eq!(config.substitution, Substitution::Off);
    assert_eq!(config.limits, Limits::default());
    assert_eq!(config.limits.requests_max, 10_000);
    assert_eq!(config.repair, Repair::Translated);
    assert!(!config.auth.required && !config.open_bind);
    assert_eq!(names(&config), ["sim-chat", "sim-responses", "sim-anthropic", "sim-gemini"]);
}

#[test]
fn a_provider_can_say_everything_itself() {
    let config = config(
        r#"
        [[provider]]
        name = "mine"
        protocol = ["openai-responses", "chat", "messages"]
        base_url = { responses = "https://a.example/v1/", chat = "https://a.example/v2", anthropic-messages = "https://b.example" }
        api_key = { env = "SET_KEY" }
        models = ["mine-*"]
        headers = { X-Team = "a", x-token = { value = "hush" } }
        dialect = "mistral"
        connect_timeout = "1s"
        first_byte_timeout = "2m"
        idle_timeout = "300ms"
        retries = 0
        max_in_flight = 7
        late_system = "inline"
        max_output_tokens = 1_000
        version = "2024-01-01"
        "#,
    );
    let mine = &config.providers[0];
    assert_eq!(
        places(mine),
        [
            "openai-responses https://a.example/v1",
            "openai-chat https://a.example/v2",
            "anthropic-messages https://b.example/v1",
        ]
    );
    assert_eq!(mine.sole_key().unwrap().expose(), "sesame");
    assert!(mine.claims[0].matches("mine-1"));
    let headers: Vec<_> = mine.headers.iter().map(|(name, value)| (name.as_str(), value)).collect();
    assert_eq!(headers, [("x-team", &"a".parse().unwrap()), ("x-token", &"hush".parse().unwrap())]);
    assert_eq!(mine.dialect, Some(Dialect::MISTRAL));
    let expected = Timeouts {
        connect: Duration::from_secs(1),
        first_byte: Duration::from_secs(120),
        idle: Duration::from_millis(300),
    };
    assert_eq!(mine.timeouts, expected);
    assert_eq!((mine.retries, mine.max_in_flight), (0, Some(7)));
    assert_eq!((mine.late_system, mine.max_output_tokens), (LateSystem::Inline, Some(1_000)));
    assert_eq!(mine.version.as_ref().unwrap(), "2024-01-01");
    let debug = format!("{config:?}");
    assert!(!debug.contains("sesame") && !debug.contains("hush"), "{debug}");
}

#[test]
fn a_preset_is_changed_by_what_stands_beside_it() {
    let config = config(
        r#"
        [[provider]]
        preset = "openai"
        api_key = { env = "SET_KEY" }

        [[provider]]
        preset = "openai"
        name = "proxy"
        base_url = "http://localhost:9000/v1"
        protocol = "chat"
        models = []

        [[provider]]
        preset = "ollama"
        protocol = ["chat", "responses"]
        "#,
    );
    let [openai, proxy, ollama] = &config.providers[..3] else { panic!("three come first") };
    assert_eq!(openai.endpoints[0].protocol, Protocol::OpenaiResponses);
    assert_eq!(openai.default_model.as_deref(), Some("gpt-5.6"));
    assert!(openai.claims.iter().any(|claim| claim.matches("gpt-5.6")));
    assert_eq!(proxy.name, "proxy");
    assert_eq!(places(proxy), ["openai-chat http://localhost:9000/v1"]);
    assert!(proxy.claims.is_empty() && proxy.keys.is_empty());
    assert_eq!(proxy.dialect, Some(Dialect::OPENAI));
    let own =
        ["openai-chat http://localhost:11434/v1", "openai-responses http://localhost:11434/v1"];
    assert_eq!(places(ollama), own);
}

#[test]
fn a_known_host_brings_its_dialect() {
    let provider = |url: &str| {
        let text = format!("[[provider]]\nname = \"p\"\nprotocol = \"chat\"\nbase_url = \"{url}\"");
        config(&text).providers.swap_remove(0).dialect
    };
    assert_eq!(provider("https://api.mistral.ai/v1"), Some(Dialect::MISTRAL));
    assert_eq!(provider("https://mistral.example/v1"), None);
}

#[test]
fn the_environment_adds_what_the_file_does_not_name() {
    let variable = |name: &str| name.ends_with("_API_KEY").then(|| "key".to_owned());
    let read = |text: &str| parse(text, Path::new("sabir.toml"), &variable).unwrap();
    let config = read("[[provider]]\npreset = \"xai\"\nretries = 5\n");
    assert_eq!(names(&config)[..3], ["xai", "openai", "anthropic"]);
    assert_eq!(names(&config).iter().filter(|name| **name == "xai").count(), 1);
    assert_eq!(config.providers[0].retries, 5);
    let config = read("env_providers = false\n[[provider]]\npreset = \"xai\"\n");
    assert_eq!(names(&config)[..2], ["xai", "sim-chat"]);
}

#[test]
fn models_point_to_providers_of_every_origin() {
    let variable = |name: &str| (name == "XAI_API_KEY").then(|| "key".to_owned());
    let text = r#"
        [[provider]]
        preset = "ollama"
        [[model]]
        name = "smart"
        strategy = "weighted"
        targets = [
            { provider = "sim-gemini", model = "sim" },
            { provider = "xai", model = "grok-4", weight = 3 },
            { provider = "ollama", model = "qwen" },
        ]
    "#;
    let config = parse(text, Path::new("sabir.toml"), &variable).unwrap();
    let model = &config.models[0];
    assert_eq!(model.strategy, Strategy::Weighted);
    let targets: Vec<_> = model
        .targets
        .iter()
        .map(|it| (it.provider.as_str(), it.model.as_str(), it.weight))
        .collect();
    assert_eq!(targets, [("sim-gemini", "sim", 1), ("xai", "grok-4", 3), ("ollama", "qwen", 1)]);
}

#[test]
fn the_server_is_told_where_and_for_whom_to_serve() {
    let config = config(
        r#"
        listen = "[::]:8080"
        repair = "always"
        allowed_hosts = ["Sabir.Example", "box:4747"]
        cors_origins = ["https://App.example/", "http://localhost:3000"]
        [auth]
        required = true
        [[auth.key]]
        name = "ci"
        value = { env = "SET_KEY" }
        [limits]
        max_body_size = "20MB"
        max_header_size = 65536
        shutdown_grace = "0s"
        max_queue = 0
        [log]
        level = "info,sabir_gateway=debug"
        format = "json"
        "#,
    );
    assert_eq!(config.listen.to_string(), "[::]:8080");
    assert_eq!(config.repair, Repair::Always);
    assert_eq!(config.allowed_hosts, ["sabir.example", "box:4747"]);
    assert_eq!(config.cors_origins, ["https://app.example", "http://localhost:3000"]);
    assert!(config.auth.required);
    assert_eq!(
        (config.auth.keys[0].name.as_str(), config.auth.keys[0].value.expose()),
        ("ci", "sesame")
    );
    assert_eq!(
        (config.limits.body_bytes_max, config.limits.header_bytes_max),
        (20_000_000, 65_536)
    );
    assert_eq!((config.limits.shutdown_grace, config.limits.queue_max), (Duration::ZERO, 0));
    assert_eq!(config.log.level, "info,sabir_gateway=debug");
    assert_eq!(config.log.format, LogFormat::Json);
    assert_eq!(config.bind_refusal(), None);
}

#[test]
fn an_open_address_needs_a_word() {
    assert!(read("listen = \"0.0.0.0:4747\"").is_err());
    let open = config("listen = \"0.0.0.0:4747\"\nopen_bind = true");
    assert_eq!(open.bind_refusal(), None);
    assert_eq!(config("listen = \"localhost:0\"").listen.to_string(), "127.0.0.1:0");
}

#[test]
fn an_agent_that_may_change_files_needs_keys_or_an_address_that_is_this_machines() {
    let text = |listen: &str, permissions: &str| {
        format!(
            "listen = \"{listen}\"\nopen_bind = true\n[[provider]]\nname = \"worker\"\n\
             agent = \"openai-codex\"\nmode = \"agent\"\nfolder = \"/\"\n{permissions}\n"
        )
    };
    let (edit, full) = ("permissions = \"edit\"", "permissions = \"full\"");
    for permissions in ["", "permissions = \"read\""] {
        assert!(read(&text("0.0.0.0:4747", permissions)).is_ok());
    }
    for permissions in [edit, full] {
        assert!(read(&text("127.0.0.1:4747", permissions)).is_ok());
        let problems = read(&text("0.0.0.0:4747", permissions)).unwrap_err().to_string();
        assert!(problems.contains("`worker` may change files"), "{problems}");
        let keys =
            "[auth]\nrequired = true\n[[auth.key]]\nname = \"me\"\nvalue = { value = \"k-1\" }";
        assert!(read(&(text("0.0.0.0:4747", permissions) + keys)).is_ok());
    }
}

#[test]
fn a_program_by_its_path_stands_beside_the_config_file() {
    for (command, program) in [
        ("\"tools/agent\"", "/etc/sabir/tools/agent"),
        ("[\"./agent\", \"./argument\"]", "/etc/sabir/./agent"),
        ("\"/usr/bin/agent\"", "/usr/bin/agent"),
        ("\"~/agent\"", "/srv/me/agent"),
        ("\"agent\"", "agent"),
    ] {
        let text = format!("[[provider]]\nname = \"a\"\nagent = \"plain\"\ncommand = {command}\n");
        let home = |name: &str| (name == "HOME").then(|| "/srv/me".to_owned());
        let config = parse(&text, Path::new("/etc/sabir/sabir.toml"), &home).unwrap();
        let Location::Agent(agent) = &config.providers[0].endpoints[0].place else {
            panic!("{command} is an agent")
        };
        let found = Path::new(&agent.command[0]);
        assert_eq!(found, Path::new(program), "{command}");
        assert!(agent.command.get(1).is_none_or(|argument| argument == "./argument"));
    }
}

#[test]
fn a_key_file_stands_beside_the_config_file() {
    let folder = std::env::temp_dir().join(format!("sabir-key-file-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("own.key"), "from-file\n").unwrap();
    fs::write(folder.join("empty.key"), "\n").unwrap();
    fs::write(folder.join("wrong.key"), "from\nfile").unwrap();
    let read = |file: &str| {
        let text =
            format!("[[provider]]\npreset = \"openai\"\napi_key = {{ file = \"{file}\" }}\n");
        parse(&text, &folder.join("sabir.toml"), &|_| None)
    };
    let key = |file| read(file).unwrap().providers.swap_remove(0).sole_key().unwrap().clone();
    assert_eq!(key("own.key").expose(), "from-file");
    for (file, expected) in [("empty.key", "empty"), ("wrong.key", "header"), ("no.key", "no.key")]
    {
        let problems = read(file).unwrap_err();
        let problem = &problems.list[0];
        assert_eq!((problem.line, problem.column), (3, 20));
        assert!(problem.message.contains(expected), "{problems}");
        assert!(!problem.message.contains("from"), "{problems}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_file() {
    assert!(read("\u{feff}listen = \"127.0.0.1:1\"\r\n").is_ok());
}
