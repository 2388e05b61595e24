//! What an answer cost, in counts that mean the same for every vendor.

use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::NodeSemantics;

/// Token counts. What the vendor did not report is absent, not zero.
#[derive(Clone, Debug, Default)]
pub struct Usage<'a> {
    /// All input: uncached, read from cache, written to cache and tool results fed back.
    pub input: Option<u64>,
    pub cache_read: Option<u64>,
    pub cache_write: Option<u64>,
    pub cache_write_5m: Option<u64>,
    pub cache_write_1h: Option<u64>,
    /// Results of hosted tools that were fed back; part of `input`.
    pub tool_prompt: Option<u64>,
    /// All output, reasoning included.
    pub output: Option<u64>,
    pub reasoning: Option<u64>,
    /// The vendor's own sum of everything.
    pub total: Option<u64>,
    pub(crate) semantics: NodeSemantics<'a>,
    /// Where the counts stand that only a later report of a stream had.
    pub(crate) later: Vec<(Field, Place)>,
}

impl<'a> Usage<'a> {
    /// What the wire said of the usage beyond these counts.
    pub fn semantics(&self) -> &NodeSemantics<'a> {
        &self.semantics
    }

    pub(crate) fn semantics_mut(&mut self) -> &mut NodeSemantics<'a> {
        &mut self.semantics
    }

    /// Takes what a later report says and keeps the rest: reports of usage are cumulative.
    pub fn update(&mut self, later: Usage<'a>) {
        let Usage {
            input,
            cache_read,
            cache_write,
            cache_write_5m,
            cache_write_1h,
            tool_prompt,
            output,
            reasoning,
            total,
            semantics,
            later: _,
        } = later;
        let place = semantics.place();
        let is_elsewhere = place != self.semantics.place();
        let counts = [
            (Field::UsageInput, &mut self.input, input),
            (Field::UsageCacheRead, &mut self.cache_read, cache_read),
            (Field::UsageCacheWrite, &mut self.cache_write, cache_write),
            (Field::UsageCacheWrite5m, &mut self.cache_write_5m, cache_write_5m),
            (Field::UsageCacheWrite1h, &mut self.cache_write_1h, cache_write_1h),
            (Field::UsageToolPrompt, &mut self.tool_prompt, tool_prompt),
            (Field::UsageOutput, &mut self.output, output),
            (Field::UsageReasoning, &mut self.reasoning, reasoning),
            (Field::UsageTotal, &mut self.total, total),
        ];
        for (field, old, new) in counts {
            if old.is_none() && new.is_some() && is_elsewhere {
                self.later.push((field, place));
            }
            *old = new.or(*old);
        }
        self.semantics.update(semantics);
    }

    /// Where the report stands that first had a count. A later report may take a count over from an earlier one.
    pub(crate) fn place_of(&self, count: Field) -> Place {
        let later = self.later.iter().find(|(field, _)| *field == count);
        later.map_or(self.semantics.place(), |(_, place)| *place)
    }

    pub fn into_owned(self) -> Usage<'static> {
        Usage {
            input: self.input,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            cache_write_5m: self.cache_write_5m,
            cache_write_1h: self.cache_write_1h,
            tool_prompt: self.tool_prompt,
            output: self.output,
            reasoning: self.reasoning,
            total: self.total,
            semantics: self.semantics.into_owned(),
            later: self.later,
        }
    }
}
