//! Writing frames in exactly the framing that the official clients accept.

use crate::json::Writer;

/// A frame with only data: `data: {…}` and a blank line.
pub(crate) fn data_frame(out: &mut String, json: impl FnOnce(&mut Writer)) {
    out.push_str("data: ");
    write_json(out, json);
    out.push_str("\n\n");
}

/// A frame with a name: `event: …`, `data: {…}` and a blank line.
pub(crate) fn named_frame(out: &mut String, event: &str, json: impl FnOnce(&mut Writer)) {
    out.push_str("event: ");
    out.push_str(event);
    out.push_str("\ndata: ");
    write_json(out, json);
    out.push_str("\n\n");
}

fn write_json(out: &mut String, json: impl FnOnce(&mut Writer)) {
    let mut writer = Writer::appending(std::mem::take(out));
    json(&mut writer);
    *out = writer.into_string();
}
