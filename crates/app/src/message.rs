//! Messages for people to read: who said it, and under it what.

use sabir_client::Message;

use crate::output::{printable, printable_lines};

/// A message with its calls, under the one who said it. It cannot command the terminal.
pub(crate) fn shown(message: &Message) -> String {
    let mut text = format!("{}\n", message.role.as_str());
    for line in printable_lines(&message.content).lines() {
        text.push_str(format!("  {line}").trim_end());
        text.push('\n');
    }
    for call in &message.tool_calls {
        text.push_str(&format!("  → {} {}\n", printable(&call.name), printable(&call.arguments)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_shown_with_their_calls_and_cannot_command_the_terminal() {
        let json = r#"{"role":"assistant","content":"a\u001b[2J\n\nb","tool_calls":[{"id":"c","type":"function",
            "function":{"name":"bash","arguments":"{}"}}]}"#;
        let message = Message::from_json(json).unwrap();
        assert_eq!(shown(&message), "assistant\n  a\\u{1b}[2J\n\n  b\n  → bash {}\n");
    }
}
