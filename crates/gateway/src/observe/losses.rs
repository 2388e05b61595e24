//! The entries of a loss report as they are remembered: all pointers in one text. With a block of memory for each, the
//! blocks that requests work with would be those of the oldest report, and in no cache any more.

use std::borrow::Cow;

use sabir_wire::Loss;
use sabir_wire::LossKind;
use sabir_wire::json::Writer;

#[derive(Debug, Default)]
pub(crate) struct Losses {
    pointers: String,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    /// Where its pointer ends in the text, and that of the next one begins.
    end: usize,
    kind: LossKind,
    reason: Cow<'static, str>,
}

impl Losses {
    /// Takes so many entries over as fit.
    pub(crate) fn of(losses: Vec<Loss>, bytes_max: usize) -> Self {
        let fitting = fitting(&losses, bytes_max);
        let pointer_bytes = losses[..fitting].iter().map(|loss| loss.pointer.len()).sum();
        let mut kept = Self {
            pointers: String::with_capacity(pointer_bytes),
            entries: Vec::with_capacity(fitting),
        };
        for Loss { pointer, kind, reason } in losses.into_iter().take(fitting) {
            kept.pointers.push_str(&pointer);
            kept.entries.push(Entry { end: kept.pointers.len(), kind, reason });
        }
        kept
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What they take in memory at most: many reasons are part of the program.
    pub(crate) fn bytes(&self) -> usize {
        self.pointers.len()
            + self.entries.iter().map(|entry| entry_bytes(&entry.reason)).sum::<usize>()
    }

    /// How many of them can change an answer.
    pub(crate) fn that_matter(&self) -> usize {
        self.entries.iter().filter(|entry| entry.kind.matters()).count()
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        let mut start = 0;
        write(
            writer,
            self.entries.iter().map(|entry| {
                let pointer = &self.pointers[start..entry.end];
                start = entry.end;
                (pointer, entry.kind, &*entry.reason)
            }),
        );
    }
}

fn fitting(losses: &[Loss], bytes_max: usize) -> usize {
    let mut bytes = 0;
    let fits = |loss: &&Loss| {
        bytes += loss.pointer.len() + entry_bytes(&loss.reason);
        bytes <= bytes_max
    };
    losses.iter().take_while(fits).count()
}

fn entry_bytes(reason: &str) -> usize {
    size_of::<Entry>() + reason.len()
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
    use sabir_wire::Report;

    use super::*;

    fn report() -> Vec<Loss> {
        let mut report = Report::default();
        report.lose("/top_k", LossKind::Dropped, "unknown there");
        report.lose("/messages/0", LossKind::Renamed, format!("{} blocks", 2));
        report.lose("", LossKind::Implied, "the default");
        report.into_entries()
    }

    #[test]
    fn what_is_remembered_reads_as_it_was() {
        let mut expected = Writer::default();
        write_losses(&report(), &mut expected);
        let kept = Losses::of(report(), usize::MAX);
        let mut told = Writer::default();
        kept.write(&mut told);
        assert_eq!(told.into_string(), expected.into_string());
        assert_eq!((kept.len(), kept.that_matter()), (3, 1));
    }

    #[test]
    fn no_more_is_kept_than_fits() {
        let bytes = Losses::of(report(), usize::MAX).bytes();
        assert_eq!(Losses::of(report(), bytes).len(), 3);
        assert_eq!(Losses::of(report(), bytes - 1).len(), 2);
        assert_eq!(Losses::of(report(), 0).len(), 0);
    }
}
