//! Writing frames in exactly the framing that the official clients accept.

use memchr::memchr2;

use crate::json::{Json, Writer};

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

/// A frame with the line ends of Gemini, for clients that take every line end of Unicode for one of the stream.
pub(crate) fn guarded_frame(out: &mut String, json: impl FnOnce(&mut Writer)) {
    out.push_str("data: ");
    let start = out.len();
    write_json(out, json);
    escape_line_ends(out, start);
    out.push_str("\r\n\r\n");
}

/// Escapes the line ends beyond ASCII; in JSON they can stand in strings only.
fn escape_line_ends(out: &mut String, start: usize) {
    const LINE_ENDS: [(char, &str); 3] =
        [('\u{85}', "\\u0085"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")];
    if memchr2(0xC2, 0xE2, &out.as_bytes()[start..]).is_none() {
        return;
    }
    for (line_end, escape) in LINE_ENDS {
        if out[start..].contains(line_end) {
            let escaped = out[start..].replace(line_end, escape);
            out.replace_range(start.., &escaped);
        }
    }
}

fn write_json(out: &mut String, json: impl FnOnce(&mut Writer)) {
    let start = out.len();
    let mut writer = Writer::appending(std::mem::take(out));
    json(&mut writer);
    *out = writer.into_string();
    keep_on_one_line(out, start);
}

/// Takes out the line ends of raw values that were pretty-printed where they came from: one would end the frame's data.
fn keep_on_one_line(out: &mut String, start: usize) {
    if memchr2(b'\n', b'\r', &out.as_bytes()[start..]).is_some() {
        let compact = Json::trusted(out[start..].into()).compact().into_owned();
        out.truncate(start);
        out.push_str(&compact);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_over_several_lines_stay_in_one_frame() {
        let mut out = String::new();
        data_frame(&mut out, |writer| {
            writer.object(|object| object.field("raw", &Json::literal("{\n  \"a\": 1\r\n}")));
        });
        assert_eq!(out, "data: {\"raw\":{\"a\":1}}\n\n");
    }

    #[test]
    fn line_ends_beyond_ascii_are_escaped_in_guarded_frames() {
        let mut out = String::from("data: \u{2028}\n\n");
        guarded_frame(&mut out, |writer| {
            writer.object(|object| object.field("text", "é\u{85}\u{2028}—\u{2029}"));
        });
        let frame = "data: {\"text\":\"é\\u0085\\u2028—\\u2029\"}\r\n\r\n";
        assert_eq!(out.strip_prefix("data: \u{2028}\n\n"), Some(frame));
    }
}
