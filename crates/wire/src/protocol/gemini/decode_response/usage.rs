//! Reading usage: the vendor counts thoughts and fed-back tool results apart, the conversation together.

use crate::conversation::Usage;
use crate::error::Result;
use crate::json::Json;
use crate::json::Kind;
use crate::json::Reader;
use crate::json::Text;
use crate::json::Writer;
use crate::place::Place;
use crate::protocol::gemini::types::CANDIDATES_SUMMED;
use crate::protocol::gemini::types::CANDIDATES_ZERO;
use crate::protocol::gemini::types::PROMPT_ZERO;
use crate::protocol::object::Member;
use crate::protocol::object::read_object;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::NodeSemantics;

/// The counts as the vendor states them.
#[derive(Clone, Debug, Default)]
pub(in crate::protocol::gemini) struct Counts<'a> {
    prompt: Option<u64>,
    cached: Option<u64>,
    candidates: Option<u64>,
    thoughts: Option<u64>,
    tool_prompt: Option<u64>,
    total: Option<u64>,
    extras: Extras<'a>,
}

impl<'a> Counts<'a> {
    /// Reads a usage report, and the service tier that stands in it.
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<(Self, Option<Text<'a>>)> {
        let mut counts = Self::default();
        let mut extras = Extras::default();
        let mut service_tier = None;
        read_object(reader, "", &mut extras, |key, reader, _| {
            if key == "serviceTier" && reader.kind()? == Kind::String {
                service_tier = Some(reader.string()?);
                return Ok(Member::Read);
            }
            let Some(count) = counts.count(key) else { return Ok(Member::Unknown) };
            let Ok(number) = reader.checkpoint().u64() else { return Ok(Member::Unknown) };
            *count = Some(number);
            reader.skip()?;
            Ok(Member::Read)
        })?;
        counts.extras = extras;
        Ok((counts, service_tier))
    }

    fn count(&mut self, key: &str) -> Option<&mut Option<u64>> {
        match key {
            "promptTokenCount" => Some(&mut self.prompt),
            "cachedContentTokenCount" => Some(&mut self.cached),
            "candidatesTokenCount" => Some(&mut self.candidates),
            "thoughtsTokenCount" => Some(&mut self.thoughts),
            "toolUsePromptTokenCount" => Some(&mut self.tool_prompt),
            "totalTokenCount" => Some(&mut self.total),
            _ => None,
        }
    }

    /// Fills in what an earlier report of the same stream said and this one does not. A report with a sum of its own tells
    /// the output by that sum: an earlier count of it is old.
    pub(in crate::protocol::gemini) fn after(&mut self, earlier: &Counts<'_>) {
        if earlier.candidates.is_some() && self.candidates.is_none() {
            self.candidates = self.summed(earlier);
        }
        let counts = [
            (&mut self.prompt, earlier.prompt),
            (&mut self.cached, earlier.cached),
            (&mut self.candidates, earlier.candidates),
            (&mut self.thoughts, earlier.thoughts),
            (&mut self.tool_prompt, earlier.tool_prompt),
            (&mut self.total, earlier.total),
        ];
        for (count, earlier) in counts {
            *count = count.or(earlier);
        }
    }

    /// The visible output by the sum of this report, which counts all else too.
    fn summed(&self, earlier: &Counts<'_>) -> Option<u64> {
        let rest = [
            self.prompt.or(earlier.prompt)?,
            self.thoughts.or(earlier.thoughts).unwrap_or_default(),
            self.tool_prompt.or(earlier.tool_prompt).unwrap_or_default(),
        ];
        rest.into_iter().try_fold(self.total?, u64::checked_sub)
    }

    /// The visible output where only the total tells of it.
    fn left_by_total(&self) -> Option<u64> {
        let left = self.summed(&Counts::default()).filter(|count| *count > 0);
        left.filter(|_| self.candidates.is_none())
    }

    /// Keeps a service tier that came too late to be the answer's own.
    pub(in crate::protocol::gemini) fn keep_tier(&mut self, tier: &Text<'_>) {
        let mut writer = Writer::default();
        writer.value(tier);
        let json = Json::trusted(writer.into_string().into());
        self.extras.keep("", "serviceTier".into(), json);
    }

    /// The counts alone, to be remembered.
    pub(in crate::protocol::gemini) fn bare(&self) -> Counts<'static> {
        let mut bare = Counts::default();
        bare.after(self);
        bare
    }

    /// The canonical usage.
    pub(in crate::protocol::gemini) fn usage(self, place: Place) -> Usage<'a> {
        let mut usage = Usage::default();
        let summed = self.left_by_total();
        let candidates = self.candidates.or(summed);
        (usage.input, usage.tool_prompt) = (sum(self.prompt, self.tool_prompt), self.tool_prompt);
        (usage.output, usage.reasoning) = (sum(candidates, self.thoughts), self.thoughts);
        (usage.cache_read, usage.total) = (self.cached, self.total);
        let mut semantics = NodeSemantics::at(place);
        if self.prompt == Some(0) {
            semantics.add_shape(PROMPT_ZERO);
        }
        if self.candidates == Some(0) {
            semantics.add_shape(CANDIDATES_ZERO);
        }
        if summed.is_some() {
            semantics.add_shape(CANDIDATES_SUMMED);
        }
        semantics.keep(self.extras);
        *usage.semantics_mut() = semantics;
        usage
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or_default().saturating_add(other.unwrap_or_default())),
    }
}
