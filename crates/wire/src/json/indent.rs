//! Indents JSON by two spaces a level, whatever white space it came with.

/// `json` must be one valid value; strings and numbers keep their spelling.
pub(crate) fn indented(json: &str) -> String {
    let mut printer = Printer { out: String::with_capacity(json.len() * 2), depth: 0 };
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        rest = after.trim_start_matches([' ', '\n', '\r', '\t']);
        printer.token(token, rest);
    }
    printer.out
}

/// The length of the string literal that `json` begins with, quotes included.
fn string_length(json: &str) -> usize {
    let mut escaped = false;
    let end = json.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    });
    end.map_or(json.len(), |end| end + 2)
}

struct Printer {
    out: String,
    depth: usize,
}

impl Printer {
    /// Writes `token`, a string or a single character. `rest` is what follows it, past any white space.
    fn token(&mut self, token: &str, rest: &str) {
        match token {
            "{" | "[" => self.open(token, rest),
            "}" | "]" => self.close(token),
            "," => {
                self.out.push(',');
                self.line();
            }
            ":" => self.out.push_str(": "),
            _ => self.out.push_str(token),
        }
    }

    fn open(&mut self, token: &str, rest: &str) {
        self.out.push_str(token);
        self.depth += 1;
        if !rest.starts_with(['}', ']']) {
            self.line();
        }
    }

    fn close(&mut self, token: &str) {
        self.depth = self.depth.saturating_sub(1);
        if !self.out.ends_with(['{', '[']) {
            self.line();
        }
        self.out.push_str(token);
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", self.depth));
    }
}
