//! An answer of text, thoughts and whole calls, as events: begun with its first words, so that what fails before them is a refusal.

use sabir_wire::Place;
use sabir_wire::conversation::{CallForm, Counts, Finish, FinishKind, ReasoningForm, Usage};
use sabir_wire::json::Text;
use sabir_wire::protocol::{Closed, Delta, Event, NodeSemantics, Open, Opening, PartId, Start};

use super::answer::Sink;
use super::task::{Digest, Utterance};

/// An answer on its way.
pub(super) struct Speech {
    sink: Sink,
    model: String,
    has_begun: bool,
    /// The part that grows, and what it is.
    open: Option<Form>,
    parts: u32,
    /// Whether the next text begins a paragraph.
    is_paragraph: bool,
    has_text: bool,
    /// Whether the last thought may go on.
    is_mid_line: bool,
    /// All text so far, if anybody wants to know it again.
    emitted: Option<Utterance>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Thought,
}

impl Speech {
    pub(super) fn new(sink: Sink, model: String) -> Self {
        Self::noting(sink, model, None)
    }

    /// One whose words are noted behind what was said before.
    pub(super) fn noting(sink: Sink, model: String, emitted: Option<Utterance>) -> Self {
        Self {
            sink,
            model,
            has_begun: false,
            open: None,
            parts: 0,
            is_paragraph: false,
            has_text: false,
            is_mid_line: false,
            emitted,
        }
    }

    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Adds some text, as fast as it is taken.
    pub(super) async fn push(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        if let Some(emitted) = &mut self.emitted {
            emitted.push(&text);
        }
        let divides = std::mem::take(&mut self.is_paragraph) && self.has_text;
        self.has_text = true;
        let text = if divides { format!("\n\n{text}") } else { text };
        self.grow(Form::Text, text).await;
    }

    /// Adds some of what the model thinks.
    pub(super) async fn think(&mut self, text: String) {
        self.is_mid_line = !text.ends_with('\n');
        self.grow(Form::Thought, text).await;
    }

    /// Adds a line on what the agent does, which is nobody's to answer.
    pub(super) async fn act(&mut self, activity: String) {
        self.is_paragraph = true;
        let divides = self.open == Some(Form::Thought) && self.is_mid_line;
        let lead = if divides { "\n\n" } else { "" };
        self.think(format!("{lead}{activity}\n\n")).await;
    }

    /// The next text is another message.
    pub(super) fn paragraph(&mut self) {
        self.is_paragraph = true;
    }

    /// What was said, with all of this answer.
    pub(super) fn emitted(&mut self) -> Option<Digest> {
        self.emitted.take().map(Utterance::end)
    }

    /// Adds a call of a tool, with its arguments as JSON.
    pub(super) fn call(&mut self, id: String, name: String, arguments: String) {
        self.close();
        self.begin();
        let id = Some(Text::plain(id)).filter(|id| *id != *"");
        let form = CallForm::Function;
        self.start(Opening::ToolCall { id, name: Text::plain(name), form });
        self.sink.put(Event::Delta(self.part(), Delta::Text(Text::plain(arguments))));
        self.end();
    }

    /// All of it is there, and this is what it cost.
    pub(super) fn finish(mut self, kind: FinishKind, counts: Option<Counts>) {
        self.begin();
        self.close();
        if let Some(counts) = counts {
            let mut usage = Usage::default();
            usage.counts = counts;
            self.sink.put(Event::Usage(usage));
        }
        let finish = Finish::new(kind);
        self.sink.put(Event::Finish { candidate: 0, place: Place::default(), finish });
    }

    async fn grow(&mut self, form: Form, text: String) {
        if text.is_empty() {
            return;
        }
        self.begin();
        if self.open != Some(form) {
            self.close();
            self.open = Some(form);
            self.start(match form {
                Form::Text => Opening::Text,
                Form::Thought => Opening::Reasoning(ReasoningForm::Summary),
            });
        }
        self.sink.put(Event::Delta(self.part(), Delta::Text(Text::plain(text))));
        self.sink.drained().await;
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) {
            let model = Some(Text::plain(self.model.clone()));
            self.sink.put(Event::Start(Start { model, ..Start::default() }));
        }
    }

    fn part(&self) -> PartId {
        PartId(self.parts)
    }

    fn start(&mut self, opening: Opening<'static>) {
        let (part, semantics) = (self.part(), NodeSemantics::default());
        self.sink.put(Event::Open(Open { part, candidate: 0, opening, semantics }));
    }

    fn end(&mut self) {
        let closed = Closed { part: self.part(), semantics: NodeSemantics::default() };
        self.sink.put(Event::Close(closed));
        self.parts += 1;
    }

    /// Ends the part that grows.
    fn close(&mut self) {
        if self.open.take().is_some() {
            self.end();
        }
    }
}
