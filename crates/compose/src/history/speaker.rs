//! Who speaks in the messages of a request. Protocols take a role that nobody knows for the user's; whoever keeps messages must not.

use std::fmt;

use sabir_wire::Protocol;
use sabir_wire::json::Reader;

/// Who speaks in the messages of any protocol.
const ROLES: [&str; 7] = ["system", "developer", "user", "assistant", "model", "tool", "function"];

/// A message of somebody whom nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stranger {
    /// The number of the message, from 0 on.
    pub index: usize,
    pub role: String,
}

/// The first message of a request, if there is one, whose speaker no protocol knows.
///
/// ```
/// use sabir_compose::history::stranger;
/// use sabir_wire::Protocol;
///
/// let body = r#"{"messages":[{"role":"user","content":"a"},{"role":"robot","content":"b"}]}"#;
/// assert_eq!(stranger(body, Protocol::OpenaiChat).map(|it| it.index), Some(1));
/// ```
pub fn stranger(body: &str, protocol: Protocol) -> Option<Stranger> {
    let mut found = None;
    let list = protocol.facts().messages();
    // What cannot be read is refused by whoever decodes it.
    let _ = Reader::new(body).object(|key, reader| match key == list {
        true => reader.array(|index, element| {
            let role = element.peek_tag("role").ok().flatten();
            let role = role.map(|role| role.into_str().into_owned());
            let unknown = role.filter(|role| !ROLES.contains(&role.as_str()));
            found = found.take().or(unknown.map(|role| Stranger { index, role }));
            element.skip()
        }),
        false => reader.skip(),
    });
    found
}

impl fmt::Display for Stranger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected one of {}, found `{}`", ROLES.join(", "), self.role)
    }
}
