//! A stream as one JSON list, for Gemini's clients that do not ask for server-sent events.

/// Turns frames into elements of a list.
#[derive(Debug, Default)]
pub(super) struct ArrayWriter {
    has_elements: bool,
}

impl ArrayWriter {
    /// Writes whole frames as elements.
    pub(super) fn push(&mut self, frames: &str, out: &mut String) {
        let data = frames.split('\n').filter_map(|line| line.strip_prefix("data: "));
        for element in data {
            out.push_str(if self.has_elements { ",\n" } else { "[" });
            out.push_str(element.trim_end_matches('\r'));
            self.has_elements = true;
        }
    }

    pub(super) fn end(self, out: &mut String) {
        out.push_str(if self.has_elements { "]" } else { "[]" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_become_elements_of_one_list() {
        let mut out = String::new();
        let mut writer = ArrayWriter::default();
        writer.push("data: {\"a\":1}\n\n", &mut out);
        writer.push("data: {\"b\":2}\r\n\r\ndata: {\"c\":3}\n\n", &mut out);
        writer.end(&mut out);
        assert_eq!(out, "[{\"a\":1},\n{\"b\":2},\n{\"c\":3}]");
        let mut out = String::new();
        ArrayWriter::default().end(&mut out);
        assert_eq!(out, "[]");
    }
}
