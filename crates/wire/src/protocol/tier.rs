//! Service tiers: what each vendor calls the same queue.

use crate::protocol::Protocol;

/// A tier that more than one vendor has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tier {
    /// Whatever the account is set to.
    Auto,
    Standard,
    Priority,
    Flex,
}

/// Why a request that leaves the tier to one vendor does not ask another for anything: each makes its choice unasked.
pub(super) const AUTO: &str = "`auto` is a choice among the tiers of the vendor that was asked";

/// A protocol's words for the tiers, in the order of [`Tier`]; none for those that it lacks.
pub(super) struct Words {
    pub(super) request: [Option<&'static str>; 4],
    pub(super) answer: [Option<&'static str>; 4],
}

/// The word of `target`'s protocol for a tier that `source`'s calls `word`; none if it has no such tier.
///
/// Requests and answers have words of their own at one vendor: `asking` says which are meant.
pub(super) fn translated(
    word: &str,
    source: Protocol,
    target: Protocol,
    asking: Asking,
) -> Option<&'static str> {
    let tier = [Tier::Auto, Tier::Standard, Tier::Priority, Tier::Flex]
        .into_iter()
        .find(|tier| spelled(*tier, source, asking) == Some(word))
        .or_else(|| other_spelling(word))?;
    spelled(tier, target, asking)
}

/// Whether a tier is asked for or was served.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    Request,
    Answer,
}

fn spelled(tier: Tier, protocol: Protocol, asking: Asking) -> Option<&'static str> {
    let Words { request, answer } = &protocol.codec().tiers;
    match asking {
        Asking::Request => request[tier as usize],
        Asking::Answer => answer[tier as usize],
    }
}

/// Words that mean a tier beside its first name.
fn other_spelling(word: &str) -> Option<Tier> {
    match word {
        "fast" => Some(Tier::Priority),
        "unspecified" => Some(Tier::Auto),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Protocol::{AnthropicMessages, Gemini, OpenaiChat, OpenaiResponses};

    #[test]
    fn tiers_go_by_each_vendors_own_words() {
        let ask = |word, source, target| translated(word, source, target, Asking::Request);
        assert_eq!(ask("default", OpenaiChat, AnthropicMessages), Some("standard_only"));
        assert_eq!(ask("standard_only", AnthropicMessages, Gemini), Some("standard"));
        assert_eq!(ask("fast", OpenaiChat, Gemini), Some("priority"));
        assert_eq!(ask("flex", OpenaiResponses, AnthropicMessages), None);
        assert_eq!(ask("ultrafast", OpenaiResponses, OpenaiChat), None);
    }

    #[test]
    fn answers_name_the_tier_that_served_them() {
        let served = |word, source, target| translated(word, source, target, Asking::Answer);
        assert_eq!(served("standard", AnthropicMessages, OpenaiChat), Some("default"));
        assert_eq!(served("default", OpenaiChat, AnthropicMessages), Some("standard"));
        assert_eq!(served("batch", AnthropicMessages, OpenaiChat), None);
    }
}
