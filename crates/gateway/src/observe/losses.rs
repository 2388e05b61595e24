//! The entries of a loss report as they are handed on and remembered: all texts in one buffer. With a block of memory for each,
//! the blocks that requests work with would be those of the oldest report, and in no cache any more; and small blocks of a
//! thread for large bodies that others keep or free would hold all its memory back.

use std::borrow::Cow;

use sabir_wire::json::Writer;
use sabir_wire::{Loss, LossKind, Report};

#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    /// The pointer of each entry, and the reason behind it if it is no part of the program.
    text: String,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Where its texts end in the buffer, and those of the next one begin.
    end: usize,
    pointer_bytes: u32,
    kind: LossKind,
    reason: Option<&'static str>,
}

impl Losses {
    /// Adds the entries of a report.
    fn add(&mut self, losses: Vec<Loss>) {
        self.entries.reserve_exact(losses.len());
        for Loss { pointer, kind, reason } in losses {
            self.text.push_str(&pointer);
            let reason = match reason {
                Cow::Borrowed(reason) => Some(reason),
                Cow::Owned(reason) => {
                    self.text.push_str(&reason);
                    None
                }
            };
            let pointer_bytes = u32::try_from(pointer.len()).unwrap_or_default();
            self.entries.push(Entry { end: self.text.len(), pointer_bytes, kind, reason });
        }
    }

    /// Adds what was handed on.
    pub(crate) fn extend(&mut self, more: Losses) {
        if self.entries.is_empty() {
            *self = more;
            return;
        }
        let before = self.text.len();
        self.text.push_str(&more.text);
        let moved = more.entries.into_iter().map(|it| Entry { end: before + it.end, ..it });
        self.entries.extend(moved);
    }

    /// So many of the entries as fit, in memory of this thread.
    pub(crate) fn fitting(&self, bytes_max: usize) -> Self {
        let fits = |(index, entry): &(usize, &Entry)| bytes(index + 1, entry.end) <= bytes_max;
        let fitting = self.entries.iter().enumerate().take_while(fits).count();
        let entries = self.entries[..fitting].to_vec();
        let end = entries.last().map_or(0, |entry| entry.end);
        Self { text: self.text[..end].to_owned(), entries }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What they take in memory.
    pub(crate) fn bytes(&self) -> usize {
        bytes(self.entries.len(), self.text.len())
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = LossKind> {
        self.entries.iter().map(|entry| entry.kind)
    }

    /// How many of them can change an answer.
    pub(crate) fn that_matter(&self) -> usize {
        self.kinds().filter(|kind| kind.matters()).count()
    }

    /// As JSON.
    pub(crate) fn to_json(&self) -> String {
        let mut writer = Writer::default();
        self.write(&mut writer);
        writer.into_string()
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        let mut start = 0;
        write(
            writer,
            self.entries.iter().map(|entry| {
                let words = &self.text[start..entry.end];
                start = entry.end;
                let (pointer, reason) = words.split_at(entry.pointer_bytes as usize);
                (pointer, entry.kind, entry.reason.unwrap_or(reason))
            }),
        );
    }
}

impl From<Report> for Losses {
    fn from(report: Report) -> Self {
        let mut losses = Self::default();
        losses.add(report.into_entries());
        losses
    }
}

fn bytes(entries: usize, text_bytes: usize) -> usize {
    entries * size_of::<Entry>() + text_bytes
}

/// Writes the entries of a loss report.
pub(crate) fn write_losses(losses: &[Loss], writer: &mut Writer) {
    write(writer, losses.iter().map(|loss| (loss.pointer.as_str(), loss.kind, &*loss.reason)));
}

fn write<'l>(writer: &mut Writer, losses: impl Iterator<Item = (&'l str, LossKind, &'l str)>) {
    writer.array(|list| {
        for (pointer, kind, reason) in losses {
            list.object(|it| {
                it.field("pointer", pointer);
                it.field("kind", kind.as_str());
                it.field("reason", reason);
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut report = Report::default();
        report.lose("/top_k", LossKind::Dropped, "unknown there");
        report.lose("/messages/0", LossKind::Renamed, format!("{} blocks", 2));
        report.lose("", LossKind::Implied, "the default");
        report
    }

    fn written(losses: &Losses) -> String {
        let mut writer = Writer::default();
        losses.write(&mut writer);
        writer.into_string()
    }

    #[test]
    fn what_is_remembered_reads_as_it_was() {
        let mut expected = Writer::default();
        write_losses(report().entries(), &mut expected);
        let kept = Losses::from(report());
        assert_eq!(written(&kept), expected.into_string());
        assert_eq!((kept.len(), kept.that_matter()), (3, 1));
    }

    #[test]
    fn no_more_is_kept_than_fits() {
        let bytes = Losses::from(report()).bytes();
        for (bytes_max, forgotten) in [(bytes, 0), (bytes - 1, 1), (0, 3)] {
            let losses = Losses::from(report()).fitting(bytes_max);
            assert_eq!(losses.len(), 3 - forgotten);
            assert!(losses.bytes() <= bytes_max);
        }
    }

    #[test]
    fn what_is_added_stands_behind_the_rest() {
        let mut twice = Losses::from(report());
        twice.extend(report().into());
        let mut expected = report();
        expected.extend(report());
        assert_eq!(written(&twice), written(&expected.into()));
    }
}
