//! How many tokens a text will cost, estimated before anybody has counted them.

/// Estimates tokens. A caller with a vendor's own tokenizer puts it behind this; everyone else takes [`BytesPerToken`].
pub trait TokenEstimate {
    /// How many tokens the text has, rather too many than too few.
    fn tokens(&self, text: &str) -> u64;

    /// Learns from what a provider has counted.
    fn correct(&mut self, counted: Counted);
}

/// What a provider reported of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    pub bytes: u64,
    pub tokens: u64,
}

/// An estimate from the length alone, which every reported usage brings closer to the conversation at hand.
///
/// Languages and models differ by a factor of three in bytes per token, but a conversation stays in its language and
/// mostly with its model, so its own past is the best guide.
///
/// ```
/// use sabir_compose::budget::{BytesPerToken, Counted, TokenEstimate};
///
/// let mut estimate = BytesPerToken::default();
/// assert_eq!(estimate.tokens(&"a".repeat(400)), 100);
/// estimate.correct(Counted { bytes: 10_000, tokens: 5_000 });
/// assert!(estimate.tokens(&"a".repeat(400)) > 100);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytesPerToken {
    /// Tokens of a million bytes: whole numbers give the same result on every machine.
    tokens_per_million: u64,
}

const MILLION: u64 = 1_000_000;
/// Four bytes a token, as in English prose and most code.
const USUAL: u64 = MILLION / 4;
/// No tokenizer needs more than a token for a byte, nor packs more than sixteen bytes into one on average.
const LEAST: u64 = MILLION / 16;
const MOST: u64 = MILLION;
/// Below this a report says more about a provider's wrapping than about the text.
const SAMPLE_BYTES_MIN: u64 = 256;
/// One report in so many: a single odd one must not turn the estimate over.
const WEIGHT: u64 = 4;

impl Default for BytesPerToken {
    fn default() -> Self {
        Self { tokens_per_million: USUAL }
    }
}

impl BytesPerToken {
    /// How many tokens this many bytes have.
    pub fn tokens_of(&self, bytes: u64) -> u64 {
        let tokens = u128::from(bytes) * u128::from(self.tokens_per_million);
        u64::try_from(tokens.div_ceil(u128::from(MILLION))).unwrap_or(u64::MAX)
    }
}

impl TokenEstimate for BytesPerToken {
    fn tokens(&self, text: &str) -> u64 {
        self.tokens_of(text.len() as u64)
    }

    fn correct(&mut self, counted: Counted) {
        let Counted { bytes, tokens } = counted;
        if bytes < SAMPLE_BYTES_MIN {
            return;
        }
        let seen = u128::from(tokens) * u128::from(MILLION) / u128::from(bytes);
        let seen = u64::try_from(seen).unwrap_or(MOST).clamp(LEAST, MOST);
        // Rounded towards what was seen, so that the same report again and again is met in the end.
        let kept = self.tokens_per_million * (WEIGHT - 1);
        self.tokens_per_million = match seen > self.tokens_per_million {
            true => (kept + seen).div_ceil(WEIGHT),
            false => (kept + seen) / WEIGHT,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bytes_are_a_token_and_a_rest_is_one_too() {
        let estimate = BytesPerToken::default();
        assert_eq!(["", "a", "abcd", "abcde"].map(|text| estimate.tokens(text)), [0, 1, 1, 2]);
    }

    #[test]
    fn an_estimate_comes_to_agree_with_what_is_reported() {
        for tokens in [1_500, 2_500, 5_000, 9_000] {
            let mut estimate = BytesPerToken::default();
            let mut error = u64::MAX;
            for _ in 0..100 {
                let now = estimate.tokens_of(10_000).abs_diff(tokens);
                assert!(now <= error, "{tokens}: {now} after {error}");
                error = now;
                estimate.correct(Counted { bytes: 10_000, tokens });
            }
            assert_eq!(estimate.tokens_of(10_000), tokens);
        }
    }

    #[test]
    fn one_odd_report_does_not_turn_the_estimate_over() {
        let mut estimate = BytesPerToken::default();
        estimate.correct(Counted { bytes: 10_000, tokens: u64::MAX });
        assert!(estimate.tokens_of(4_000) < 2_000);
        let before = estimate;
        estimate.correct(Counted { bytes: 3, tokens: 400 });
        assert_eq!(estimate, before);
    }

    #[test]
    fn no_report_takes_an_estimate_out_of_reason() {
        let mut estimate = BytesPerToken::default();
        for _ in 0..200 {
            estimate.correct(Counted { bytes: u64::MAX, tokens: 0 });
        }
        assert_eq!(estimate.tokens_of(1_600), 100);
        for _ in 0..200 {
            estimate.correct(Counted { bytes: 256, tokens: u64::MAX });
        }
        assert_eq!(estimate.tokens_of(1_600), 1_600);
        assert_eq!(estimate.tokens_of(u64::MAX), u64::MAX);
    }
}
