//! How many values a body may hold. Read into memory, a short object takes forty times its own length, so that a body of
//! megabytes would take gigabytes: providers have such limits too.

use super::problem::Problem;

/// The most values of one body. Long conversations with many tools have some ten thousand; an OpenAI embedding takes up to
/// 300,000 tokens as numbers, which are small.
const VALUES_MAX: usize = 100_000;
const NUMBERS_MAX: usize = 320_000;

/// Refuses a body with more values than a simulator reads.
pub(super) fn check(body: &[u8]) -> Result<(), Problem> {
    // The shortest value with its comma takes two bytes.
    if body.len() <= 2 * VALUES_MAX {
        return Ok(());
    }
    let counted = count(body);
    if counted.containers <= VALUES_MAX && counted.all <= NUMBERS_MAX {
        return Ok(());
    }
    let message = format!(
        "The request is too large: this simulator reads at most {VALUES_MAX} objects and lists, \
         and {NUMBERS_MAX} values in all."
    );
    Err(Problem::new(413, message))
}

#[derive(Debug, Default, PartialEq)]
struct Counted {
    containers: usize,
    all: usize,
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

    #[test]
    fn values_are_counted_outside_of_strings() {
        let body = br#"{"a":[1,2,{}],"b":"[,\",{"}"#;
        assert_eq!(count(body), Counted { containers: 3, all: 7 });
    }

    #[test]
    fn a_long_text_is_read_and_endless_small_objects_are_not() {
        let text = format!(r#"{{"text":"{}"}}"#, "[{,".repeat(1_000_000));
        assert_eq!(check(text.as_bytes()), Ok(()));
        let tokens = format!("[{}1]", "1,".repeat(300_000));
        assert_eq!(check(tokens.as_bytes()), Ok(()));
        let objects = format!("[{}{{}}]", "{},".repeat(VALUES_MAX));
        assert_eq!(check(objects.as_bytes()).map_err(|problem| problem.status), Err(413));
        let numbers = format!("[{}1]", "1,".repeat(NUMBERS_MAX));
        assert_eq!(check(numbers.as_bytes()).map_err(|problem| problem.status), Err(413));
    }
}
