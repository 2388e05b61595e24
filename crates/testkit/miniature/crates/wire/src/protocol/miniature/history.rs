//! What a client adds to its history for an answer: a turn of the model.

use crate::error::Result;
use crate::json::{Reader, Writer};

pub(in super::super) fn answer_elements(body: &str) -> Result<Vec<String>> {
    let text = Reader::new(body).peek_tag("text")?;
    let turn = |text| {
        let mut writer = Writer::default();
        writer.object(|turn| {
            turn.word("who", "model");
            turn.field("text", &text);
        });
        writer.into_string()
    };
    Ok(text.into_iter().map(turn).collect())
}
