//! The summary of a conversation that the gateway keeps, as a record of the store.

use sabir_compose::compact::summary_text;
use sabir_store::Record;
use sabir_wire::Protocol;
use sabir_wire::conversation::{Message, Part, Role};
use sabir_wire::json::{Reader, Writer};

/// A summary in place of the beginning of a conversation.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct KeptSummary {
    /// How many messages it stands for.
    pub(crate) messages: usize,
    pub(crate) summary: String,
    /// What stayed whole of the messages that it covers.
    pub(crate) carried: Vec<Carried>,
}

/// A line of the log that stays beside the summary.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) protocol: Protocol,
    /// The turn that it belongs to.
    pub(crate) turn: String,
    pub(crate) elements: String,
}

impl KeptSummary {
    /// The summary as it stands before the conversation.
    pub(crate) fn as_message(&self) -> Message<'static> {
        let text = summary_text(self.messages, &self.summary);
        Message::new(Role::System, vec![Part::text(text)])
    }

    pub(crate) fn write(&self) -> sabir_store::Result<Record> {
        let mut writer = Writer::default();
        writer.object(|it| {
            it.field("messages", &(self.messages as u64));
            it.field("summary", &*self.summary);
            it.key("carried");
            it.array(|list| {
                for Carried { protocol, turn, elements } in &self.carried {
                    list.object(|it| {
                        it.field("protocol", protocol.as_str());
                        it.field("turn", &**turn);
                        it.field("elements", &**elements);
                    });
                }
            });
        });
        Record::new(writer.into_string())
    }

    /// Reads what was written; none if it is not that.
    pub(crate) fn read(record: &Record) -> Option<Self> {
        let mut kept = Self::default();
        let mut reader = Reader::from_slice(record.as_bytes()).ok()?;
        let read = reader.object(|key, reader| {
            match &*key {
                "messages" => {
                    let messages = reader.number()?.as_u64().unwrap_or_default();
                    kept.messages = usize::try_from(messages).unwrap_or_default();
                }
                "summary" => kept.summary = reader.string()?.into_str().into_owned(),
                "carried" => {
                    let carried = reader.list(|_, item| Carried::read(item))?;
                    kept.carried = carried.into_iter().flatten().collect();
                }
                _ => reader.skip()?,
            }
            Ok(())
        });
        read.ok().map(|()| kept)
    }
}

impl Carried {
    fn read(reader: &mut Reader<'_>) -> sabir_wire::Result<Option<Self>> {
        let (mut protocol, mut turn, mut elements) = (None, String::new(), String::new());
        reader.object(|key, reader| {
            let text = reader.string()?.into_str();
            match &*key {
                "protocol" => protocol = Protocol::parse(&text),
                "turn" => turn = text.into_owned(),
                _ => elements = text.into_owned(),
            }
            Ok(())
        })?;
        Ok(protocol.map(|protocol| Self { protocol, turn, elements }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_comes_back_as_it_was_kept() {
        let carried = Carried {
            protocol: Protocol::Gemini,
            turn: "turn_1".to_owned(),
            elements: r#"{"role":"user"}"#.to_owned(),
        };
        let kept = KeptSummary {
            messages: 7,
            summary: "They \"talked\".".to_owned(),
            carried: vec![carried],
        };
        assert!(KeptSummary::read(&kept.write().unwrap()) == Some(kept));
        assert!(KeptSummary::read(&Record::new("no JSON").unwrap()).is_none());
    }
}
