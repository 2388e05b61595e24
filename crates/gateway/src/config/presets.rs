//! The providers that Sabir knows by name: where they are, what they speak, which variable holds their key.

use sabir_backend::Secret;
use sabir_wire::Protocol;
use sabir_wire::target::Dialect;

use crate::config::types::{Endpoint, Location, Provider};
use crate::config::{Glob, base_url};

/// What is known of a provider.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    pub name: &'static str,
    /// The preferred protocol first, each with its base URL.
    pub endpoints: &'static [(Protocol, &'static str)],
    /// The variables that may hold its key, the usual one first; none where no key is needed.
    pub key_variables: &'static [&'static str],
    pub dialect: Option<Dialect>,
    /// Names that are this provider's own, so that nobody needs to say whose they are.
    pub claims: &'static [&'static str],
    /// What to ask for where the client's own model does not exist there.
    pub default_model: Option<&'static str>,
}

/// In the order in which the environment's providers are preferred.
pub const PRESETS: [Preset; 10] = [
    Preset {
        name: "openai",
        endpoints: &[
            (Protocol::OpenaiResponses, "https://api.openai.com/v1"),
            (Protocol::OpenaiChat, "https://api.openai.com/v1"),
        ],
        key_variables: &["OPENAI_API_KEY"],
        dialect: Some(Dialect::OPENAI),
        claims: &["gpt-*", "o[0-9]*", "chatgpt-*", "codex-*"],
        default_model: Some("gpt-5.6"),
    },
    Preset {
        name: "anthropic",
        endpoints: &[(Protocol::AnthropicMessages, "https://api.anthropic.com")],
        key_variables: &["ANTHROPIC_API_KEY"],
        dialect: None,
        claims: &["claude-*"],
        default_model: Some("claude-sonnet-5-1"),
    },
    Preset {
        name: "gemini",
        endpoints: &[(Protocol::Gemini, "https://generativelanguage.googleapis.com")],
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        dialect: None,
        claims: &["gemini-*", "gemma-*"],
        default_model: Some("gemini-flash-latest"),
    },
    Preset {
        name: "openrouter",
        endpoints: &[(Protocol::OpenaiChat, "https://openrouter.ai/api/v1")],
        key_variables: &["OPENROUTER_API_KEY"],
        dialect: Some(Dialect::OPENROUTER),
        // Its names are `vendor/model`; a vendor that is itself configured is asked first.
        claims: &["*/*"],
        default_model: Some("openrouter/auto"),
    },
    Preset {
        name: "deepseek",
        endpoints: &[(Protocol::OpenaiChat, "https://api.deepseek.com/v1")],
        key_variables: &["DEEPSEEK_API_KEY"],
        dialect: Some(Dialect::DEEPSEEK),
        claims: &["deepseek-*"],
        default_model: Some("deepseek-flash"),
    },
    Preset {
        name: "groq",
        endpoints: &[(Protocol::OpenaiChat, "https://api.groq.com/openai/v1")],
        key_variables: &["GROQ_API_KEY"],
        dialect: Some(Dialect::GROQ),
        claims: &["llama-*"],
        default_model: Some("openai/gpt-oss-120b"),
    },
    Preset {
        name: "mistral",
        endpoints: &[(Protocol::OpenaiChat, "https://api.mistral.ai/v1")],
        key_variables: &["MISTRAL_API_KEY"],
        dialect: Some(Dialect::MISTRAL),
        claims: &[
            "mistral-*",
            "ministral-*",
            "magistral-*",
            "codestral-*",
            "devstral-*",
            "pixtral-*",
            "voxtral-*",
            "open-mistral-*",
            "open-mixtral-*",
        ],
        default_model: Some("mistral-large-latest"),
    },
    Preset {
        name: "xai",
        endpoints: &[(Protocol::OpenaiChat, "https://api.x.ai/v1")],
        key_variables: &["XAI_API_KEY"],
        dialect: Some(Dialect::XAI),
        claims: &["grok-*"],
        default_model: Some("grok-4.3"),
    },
    Preset {
        name: "ollama",
        endpoints: &[(Protocol::OpenaiChat, "http://localhost:11434/v1")],
        key_variables: &[],
        dialect: Some(Dialect::OLLAMA),
        claims: &[],
        default_model: None,
    },
    Preset {
        name: "vllm",
        endpoints: &[(Protocol::OpenaiChat, "http://localhost:8000/v1")],
        key_variables: &[],
        dialect: Some(Dialect::VLLM),
        claims: &[],
        default_model: None,
    },
];

impl Preset {
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The preset whose own names a model's name is one of.
    pub fn claiming(model: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.claims().iter().any(|claim| claim.matches(model)))
    }

    /// The provider as the table has it, with this key.
    pub fn provider(&self, key: Option<Secret>) -> Provider {
        Provider {
            keys: key.into_iter().collect(),
            claims: self.claims(),
            dialect: self.dialect,
            default_model: self.default_model.map(str::to_owned),
            ..Provider::new(self.name, self.endpoints())
        }
    }

    pub(super) fn endpoints(&self) -> Vec<Endpoint> {
        let endpoint = |(protocol, url): &(Protocol, &str)| {
            let url = base_url::resolve(url, *protocol).expect("a test resolves every preset");
            Endpoint { protocol: *protocol, place: Location::Url(url) }
        };
        self.endpoints.iter().map(endpoint).collect()
    }

    pub(super) fn claims(&self) -> Vec<Glob> {
        let claim = |claim: &&str| Glob::new(claim).expect("a test reads every claim");
        self.claims.iter().map(claim).collect()
    }

    /// Whether a URL is at one of this provider's own hosts; two servers on one machine are told apart by nothing.
    pub(super) fn is_at(&self, host: &str) -> bool {
        let own = self.endpoints.iter().filter_map(|(_, url)| url.strip_prefix("https://"));
        own.into_iter().any(|url| url.split('/').next() == Some(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_becomes_a_provider() {
        for preset in PRESETS {
            let provider = preset.provider(None);
            assert!(!provider.endpoints.is_empty(), "{}", preset.name);
            let needs_key = !preset.key_variables.is_empty();
            assert_eq!(preset.default_model.is_some(), needs_key, "{}", preset.name);
        }
    }

    #[test]
    fn a_default_model_is_one_that_its_provider_serves() {
        for preset in PRESETS.iter().filter(|preset| preset.name != "groq") {
            let Some(model) = preset.default_model else { continue };
            assert!(preset.claims().iter().any(|claim| claim.matches(model)), "{model}");
        }
    }

    #[test]
    fn families_belong_to_their_makers() {
        let cases = [
            ("gpt-5.6", "openai"),
            ("o3-mini", "openai"),
            ("chatgpt-4o-latest", "openai"),
            ("claude-sonnet-5-1", "anthropic"),
            ("gemini-2.5-flash", "gemini"),
            ("anthropic/claude-opus-5", "openrouter"),
            ("deepseek-v4-pro", "deepseek"),
            ("codestral-latest", "mistral"),
            ("grok-4", "xai"),
        ];
        for (model, expected) in cases {
            assert_eq!(Preset::claiming(model).map(|it| it.name), Some(expected), "{model}");
        }
        assert!(Preset::claiming("somebody-7b").is_none());
    }

    #[test]
    fn a_host_is_known_by_its_whole_name() {
        let groq = Preset::named("groq").unwrap();
        assert!(groq.is_at("api.groq.com"));
        assert!(!groq.is_at("groq.com"));
        assert!(!Preset::named("ollama").unwrap().is_at("localhost:11434"));
    }
}
