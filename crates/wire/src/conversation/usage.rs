//! What an answer cost, in counts that mean the same for every vendor.

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
        } = later;
        let newer = |old: &mut Option<u64>, new: Option<u64>| *old = new.or(*old);
        newer(&mut self.input, input);
        newer(&mut self.cache_read, cache_read);
        newer(&mut self.cache_write, cache_write);
        newer(&mut self.cache_write_5m, cache_write_5m);
        newer(&mut self.cache_write_1h, cache_write_1h);
        newer(&mut self.tool_prompt, tool_prompt);
        newer(&mut self.output, output);
        newer(&mut self.reasoning, reasoning);
        newer(&mut self.total, total);
        self.semantics.update(semantics);
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
        }
    }
}
