//! Items as lists show them: each with its id, its type and its status, its content always a list.

use sabir_wire::json::{Json, Kind, Reader, Writer};

/// An item of a list.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) id: String,
    text: String,
}

impl Item {
    pub(super) fn new(id: String, text: String) -> Self {
        Self { id, text }
    }

    /// The item as it was sent.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Writes the item with what a client may leave out.
    pub(super) fn write(&self, list: &mut Writer) -> sabir_wire::Result<()> {
        let reader = Reader::new(&self.text);
        let kind = reader.peek_tag("type")?;
        let is_message = kind.as_ref().is_none_or(|kind| *kind == *"message");
        let is_answer = reader.peek_tag("role")?.is_some_and(|role| role == *"assistant");
        let mut has_status = false;
        list.begin_object();
        list.field("id", self.id.as_str());
        if kind.is_none() {
            list.field("type", "message");
        }
        let mut reader = reader;
        reader.object(|name, value| {
            let value = value.raw()?;
            match &*name {
                "id" => {}
                "content" if is_message && value.kind() == Kind::String => {
                    list.key("content");
                    write_content(list, &value, is_answer);
                }
                name => {
                    has_status |= name == "status";
                    list.field(name, &value);
                }
            }
            Ok(())
        })?;
        if !has_status {
            list.field("status", "completed");
        }
        list.end_object();
        Ok(())
    }
}

fn write_content(list: &mut Writer, text: &Json<'_>, is_answer: bool) {
    list.array(|list| {
        list.object(|part| {
            part.field("type", if is_answer { "output_text" } else { "input_text" });
            part.field("text", text);
            if is_answer {
                part.key("annotations");
                part.array(|_| {});
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_left_out_is_there() {
        let mut list = Writer::default();
        let item = Item::new("msg_1".to_owned(), r#"{"role":"user","content":"hi"}"#.to_owned());
        item.write(&mut list).unwrap();
        let expected = r#"{"id":"msg_1","type":"message","role":"user","content":[{"type":"input_text","text":"hi"}],"status":"completed"}"#;
        assert_eq!(list.as_str(), expected);
    }
}
