//! How a message was spelled, part by part, so that what is left of it can be printed as it was.

use std::collections::HashMap;
use std::ops::Range;

use sabir_wire::Result;
use sabir_wire::conversation::{Content, Part, Role};
use sabir_wire::json::{Json, Kind, Reader, Text};

use super::{Given, block, call};

/// The blocks and calls of a message, each with the parts that were read from it.
#[derive(Default)]
pub(super) struct Spelling<'g> {
    pub(super) blocks: Vec<Spelled<'g>>,
    pub(super) calls: Vec<Spelled<'g>>,
    /// For each part, the indices of the blocks that it was read from.
    blocks_of: HashMap<usize, Vec<usize>>,
}

pub(super) struct Spelled<'g> {
    pub(super) json: Json<'g>,
    /// None for a block that says nothing.
    pub(super) parts: Range<usize>,
}

impl<'g> Spelling<'g> {
    /// Reads a message once more; what was read before cannot fail.
    pub(super) fn of(given: &'g Given<'_>, role: Role) -> Self {
        let has_calls = role == Role::Assistant && given.has_calls();
        let mut reading = Reading { role, has_calls, ..Reading::default() };
        if let Some(content) = &given.content {
            let _ = each_block(content, |reader| reading.block(reader));
        }
        // A message of a tool is a result, whatever it says.
        reading.count = reading.count.max(usize::from(role == Role::Tool));
        if let Some(calls) = &given.tool_calls {
            let _ = calls.reader().array(|_, reader| reading.call(reader));
        }
        reading.spelling
    }

    /// The indices of the blocks that a part was read from.
    pub(super) fn indices_of(&self, part: usize) -> &[usize] {
        self.blocks_of.get(&part).map_or(&[], Vec::as_slice)
    }

    /// The blocks that a part was read from.
    pub(super) fn blocks_of(&self, part: usize) -> Vec<&Json<'g>> {
        self.indices_of(part).iter().map(|index| &self.blocks[*index].json).collect()
    }

    /// Whether one part was read from all blocks.
    pub(super) fn is_single(&self) -> bool {
        self.blocks_of.len() <= 1
    }
}

/// A message being read.
#[derive(Default)]
struct Reading<'g> {
    role: Role,
    /// Blank text beside calls is no part of what the assistant says.
    has_calls: bool,
    spelling: Spelling<'g>,
    /// How many parts there are so far.
    count: usize,
    /// The parts of calls that were read from blocks.
    numbers: HashMap<Text<'g>, usize>,
}

impl<'g> Reading<'g> {
    fn block(&mut self, reader: &mut Reader<'g>) -> Result<()> {
        let json = reader.raw()?;
        let parts = block::read_one(&json, self.role)?;
        let parts = match self.role {
            Role::Tool => self.of_tool(&parts),
            _ => self.of_speaker(&parts),
        };
        for part in parts.clone() {
            let index = self.spelling.blocks.len();
            self.spelling.blocks_of.entry(part).or_default().push(index);
        }
        self.spelling.blocks.push(Spelled { json, parts });
        Ok(())
    }

    fn of_speaker(&mut self, parts: &[Part<'g>]) -> Range<usize> {
        let start = self.count;
        let has_calls = self.has_calls;
        for part in parts.iter().filter(|part| !has_calls || !part.is_blank()) {
            if let Some(id) = call::call_id(part) {
                self.numbers.entry(id.clone()).or_insert(self.count);
            }
            self.count += 1;
        }
        start..self.count
    }

    /// What a tool says beside its results belongs to the first of them.
    fn of_tool(&mut self, parts: &[Part<'_>]) -> Range<usize> {
        if !parts.iter().any(|part| matches!(part.content(), Content::ToolResult(_))) {
            return 0..1;
        }
        self.count += 1;
        self.count - 1..self.count
    }

    fn call(&mut self, reader: &mut Reader<'g>) -> Result<()> {
        let json = reader.raw()?;
        let id = call::call(&mut json.reader())?.id.map(Text::into_owned);
        let numbers = id.and_then(|id| self.numbers.get(&id).copied());
        let part = numbers.unwrap_or(self.count);
        self.count += usize::from(numbers.is_none());
        self.spelling.calls.push(Spelled { json, parts: part..part + 1 });
        Ok(())
    }
}

/// Calls back for each block of a list, or for the one that stands alone.
fn each_block<'j>(
    blocks: &'j Json<'_>,
    mut block: impl FnMut(&mut Reader<'j>) -> Result<()>,
) -> Result<()> {
    let mut reader = blocks.reader();
    match blocks.kind() {
        Kind::Array => reader.array(|_, reader| block(reader)),
        _ => block(&mut reader),
    }
}
