//! An answer of nothing but text, as events: begun with its first words, so that what fails before them is a refusal.

use sabir_wire::Place;
use sabir_wire::conversation::{Counts, Finish, FinishKind, Usage};
use sabir_wire::json::Text;
use sabir_wire::protocol::{Closed, Delta, Event, NodeSemantics, Open, Opening, PartId, Start};

use super::answer::Sink;

const PART: PartId = PartId(0);

/// Text on its way.
pub(super) struct Speech {
    sink: Sink,
    model: String,
    has_begun: bool,
}

impl Speech {
    pub(super) fn new(sink: Sink, model: String) -> Self {
        Self { sink, model, has_begun: false }
    }

    /// Adds some text, as fast as it is taken.
    pub(super) async fn push(&mut self, text: String) {
        if !text.is_empty() {
            self.begin();
            self.sink.put(Event::Delta(PART, Delta::Text(Text::plain(text))));
            self.sink.drained().await;
        }
    }

    /// All of it is there, and this is what it cost.
    pub(super) fn finish(mut self, counts: Option<Counts>) {
        self.begin();
        self.sink.put(Event::Close(Closed { part: PART, semantics: NodeSemantics::default() }));
        if let Some(counts) = counts {
            let mut usage = Usage::default();
            usage.counts = counts;
            self.sink.put(Event::Usage(usage));
        }
        let finish = Finish::new(FinishKind::Stop);
        self.sink.put(Event::Finish { candidate: 0, place: Place::default(), finish });
    }

    fn begin(&mut self) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        let model = Some(Text::plain(self.model.clone()));
        self.sink.put(Event::Start(Start { model, ..Start::default() }));
        let semantics = NodeSemantics::default();
        self.sink.put(Event::Open(Open {
            part: PART,
            candidate: 0,
            opening: Opening::Text,
            semantics,
        }));
    }
}
