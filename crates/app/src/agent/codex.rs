//! Codex: overrides on its command line name the gateway as a provider of its own; the user's configuration, login and
//! sessions stay in use.

use sabir_wire::Protocol;

use super::{Access, Launch};

pub(super) const PROGRAM: &str = "codex";
pub(super) const PACKAGE: &str = "@openai/codex";
pub(super) const PROTOCOL: Protocol = Protocol::OpenaiResponses;
pub(super) const OWN_MODEL: &str = "gpt-5.5";

/// The variable that the provider's key is read from; a name that no other program looks for.
const KEY: &str = "SABIR_AGENT_KEY";

pub(super) fn launch(access: &Access) -> Launch {
    let mut launch = Launch::default();
    let base_url = format!("{}/v1", access.base);
    let overrides = [
        ("model_provider", "sabir"),
        ("model_providers.sabir.name", "Sabir"),
        ("model_providers.sabir.base_url", &base_url),
        ("model_providers.sabir.wire_api", "responses"),
        ("model_providers.sabir.env_key", KEY),
    ];
    let model = access.model.as_deref().map(|model| ("model", model));
    for (key, value) in overrides.into_iter().chain(model) {
        launch.arguments.push("-c".to_owned());
        launch.arguments.push(format!("{key}={}", toml_string(value)));
    }
    launch.set(KEY, access.key.expose());
    launch.past_proxy(&access.host);
    launch
}

/// The value as TOML: bare words such as `true` or `5` would be taken for something else than text.
fn toml_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                quoted.push_str(&format!("\\u{:04X}", u32::from(letter)));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_are_toml_strings() {
        assert_eq!(toml_string("sim-chat/5"), r#""sim-chat/5""#);
        assert_eq!(toml_string("a\"b\\c\n"), r#""a\"b\\c\u000A""#);
    }

    #[test]
    fn the_key_is_in_a_variable_and_not_among_the_arguments() {
        let launch = launch(&Access::for_tests("key-of-the-gateway", Some("m")));
        let arguments = launch.arguments.join(" ");
        assert!(arguments.contains("base_url=\"http://127.0.0.1:1/v1\""), "{arguments}");
        assert!(arguments.ends_with("-c model=\"m\""), "{arguments}");
        assert!(!arguments.contains("key-of-the-gateway"), "{arguments}");
        assert!(launch.variables.contains(&(KEY, "key-of-the-gateway".to_owned())));
    }
}
