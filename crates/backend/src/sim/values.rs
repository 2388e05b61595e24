//! How much memory a body may take when it is read: a short object takes twenty times its own length and more, so that a body
//! of megabytes would take hundreds. Providers limit the number of values in their own ways.

use super::problem::Problem;

/// What a body may take beyond its length: as much as some thousand objects, whatever its length is.
const FREE_BYTES: usize = 4 << 20;

/// What it may take for each of its bytes. Conversations and tools take less than once their length; so does a long text.
const FACTOR: usize = 3;

/// What an object takes with its first members, and a list. A small object has room for four members and a table of them.
const CONTAINER_BYTES: usize = 560;

/// What another value takes, with the name that it may have.
const VALUE_BYTES: usize = 104;

/// Refuses a body that would take too much memory when it is read.
pub(super) fn check(body: &[u8]) -> Result<(), Problem> {
    // The shortest value with its comma takes two bytes.
    if body.len() / 2 * CONTAINER_BYTES <= FREE_BYTES {
        return Ok(());
    }
    match count(body).bytes() <= FREE_BYTES + FACTOR * body.len() {
        true => Ok(()),
        false => Err(too_many()),
    }
}

fn too_many() -> Problem {
    let message = "The request is too large: this simulator does not read so many short objects \
                   and values in one body.";
    Problem::new(413, message)
}

#[derive(Debug, Default, PartialEq)]
struct Counted {
    containers: usize,
    all: usize,
}

impl Counted {
    /// What all of them take in memory.
    fn bytes(&self) -> usize {
        self.containers * CONTAINER_BYTES + (self.all - self.containers) * VALUE_BYTES
    }
}

/// Counts what begins outside of strings, whether or not the body is JSON.
fn count(body: &[u8]) -> Counted {
    let mut counted = Counted { containers: 0, all: 1 };
    let mut bytes = body.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'{' | b'[' => {
                counted.containers += 1;
                counted.all += 1;
            }
            b',' => counted.all += 1,
            _ => {}
        }
    }
    counted
}

fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &str) -> Option<u16> {
        check(body.as_bytes()).err().map(|problem| problem.status)
    }

    #[test]
    fn values_are_counted_outside_of_strings() {
        let body = br#"{"a":[1,2,{}],"b":"[,\",{"}"#;
        assert_eq!(count(body), Counted { containers: 3, all: 7 });
    }

    #[test]
    fn long_texts_and_conversations_are_read() {
        let text = format!(r#"{{"text":"{}"}}"#, "[{,".repeat(1_000_000));
        assert_eq!(refused(&text), None);
        let message = format!(r#"{{"role":"user","content":"{}"}},"#, "word ".repeat(80));
        assert_eq!(refused(&format!("[{}{{}}]", message.repeat(50_000))), None);
        let property = r#""path":{"type":"string","description":"Where it is."},"#;
        assert_eq!(refused(&format!("{{{}}}", property.repeat(6_000))), None);
    }

    #[test]
    fn endless_short_values_are_not() {
        for (value, few, many) in [("{},", 4_000, 100_000), ("1,", 30_000, 300_000)] {
            assert_eq!(refused(&format!("[{}1]", value.repeat(few))), None, "{value}");
            assert_eq!(refused(&format!("[{}1]", value.repeat(many))), Some(413), "{value}");
        }
        let message = r#"{"role":"user","content":"word"},"#;
        assert_eq!(refused(&format!("[{}1]", message.repeat(60_000))), Some(413));
    }
}
