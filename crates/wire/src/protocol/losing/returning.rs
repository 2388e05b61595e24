//! What arrives but comes back otherwise: the source has one way to say it where the target has two, or none.

use super::Losing;
use crate::conversation::Message;
use crate::conversation::Role;
use crate::json::Text;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Fate;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::openai_chat::UNNAMED_FILE;

impl Losing<'_> {
    /// Gemini's neighbouring contents of one side are one turn, and a content without words is none: elsewhere they
    /// may be told apart, but they do not come back that way.
    pub(super) fn joined_turns(&mut self, messages: &[Message<'_>]) {
        if self.source != Protocol::Gemini {
            return;
        }
        let is_turn = |message: &&Message<'_>| !message.role.instructs();
        let mut before: Option<&Message<'_>> = None;
        for message in messages.iter().filter(is_turn) {
            let place = message.semantics().place();
            if message.is_blank() {
                self.node(place, LossKind::Implied, "a turn without words");
                continue;
            }
            let same_side = before
                .filter(|it| (it.role == Role::Assistant) == (message.role == Role::Assistant));
            if let Some(before) = same_side {
                let reason = "neighbours of one side are one turn";
                self.node(before.semantics().place(), LossKind::Renamed, reason);
                self.node(place, LossKind::Renamed, reason);
            }
            before = Some(message);
        }
    }

    /// A file of the name that Chat gives to nameless ones gets it again.
    pub(super) fn media_name(&mut self, place: Place, name: Option<&Text<'_>>) {
        let Some(name) = name else { return };
        let is_given_again = self.source == Protocol::OpenaiChat && *name == UNNAMED_FILE;
        match self.target.fate(Field::MediaName) {
            Fate::Lost(..) if is_given_again => {
                let reason = "the name of files that have none";
                self.field(place, Field::MediaName, LossKind::Implied, reason);
            }
            _ => self.set(place, Field::MediaName),
        }
    }
}
