//! What a run counted and found.

/// Something that must not be.
#[derive(Debug)]
pub(super) enum Finding {
    /// Acknowledged, and not there.
    Lost(String),
    /// There, and of no use.
    Unreadable(String),
    Other(String),
}

#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) acknowledged: u64,
    pub(super) broken: u64,
    /// Stored responses that were read again after a crash.
    pub(super) read: u64,
    /// Conversations that went on after a crash with all that was acknowledged.
    pub(super) continued: u64,
    /// Locks of dead nodes that were over in time.
    pub(super) unlocked: u64,
    lost: u64,
    unreadable: u64,
    other: u64,
}

impl Report {
    pub(super) fn add(&mut self, finding: Finding) {
        let (count, text) = match finding {
            Finding::Lost(text) => (&mut self.lost, format!("LOST {text}")),
            Finding::Unreadable(text) => (&mut self.unreadable, format!("UNREADABLE {text}")),
            Finding::Other(text) => (&mut self.other, format!("WRONG {text}")),
        };
        *count += 1;
        println!("{}", text.chars().take(2_000).collect::<String>());
    }

    pub(super) fn findings(&self) -> u64 {
        self.lost + self.unreadable + self.other
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.acknowledged += other.acknowledged;
        self.broken += other.broken;
        self.read += other.read;
        self.continued += other.continued;
        self.unlocked += other.unlocked;
        self.lost += other.lost;
        self.unreadable += other.unreadable;
        self.other += other.other;
    }

    pub(super) fn summary(&self) -> String {
        format!(
            "{} turns acknowledged, {} calls broken off; after crashes {} responses read, {} conversations continued, {} \
             locks waited for; {} lost, {} unreadable, {} otherwise wrong",
            self.acknowledged,
            self.broken,
            self.read,
            self.continued,
            self.unlocked,
            self.lost,
            self.unreadable,
            self.other
        )
    }
}
