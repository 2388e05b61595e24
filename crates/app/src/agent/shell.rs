//! What an agent is started with, as lines for a POSIX shell.

use std::fmt::Write;

use super::{Agent, Launch};
use crate::shell::{quoted, word};

/// Lines for `eval`; the command line that goes with them is a comment.
pub(crate) fn script(agent: Agent, launch: &Launch) -> String {
    let mut script = String::new();
    for name in &launch.removed {
        let _ = writeln!(script, "unset {name}");
    }
    for (name, value) in &launch.variables {
        let _ = writeln!(script, "export {name}={}", quoted(value));
    }
    if !launch.arguments.is_empty() {
        let arguments: Vec<String> = launch.arguments.iter().map(|it| word(it)).collect();
        // A line break in an argument would end the comment.
        let line = arguments.join(" ").replace('\n', " ");
        let _ = writeln!(script, "# then: {} {line}", agent.program());
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_stays_in_its_comment() {
        let arguments = vec!["-c".to_owned(), "a=\"b\"\nrm".to_owned()];
        let mut launch = Launch { arguments, ..Launch::default() };
        launch.set("A", "1\n2");
        launch.remove(&["B"]);
        let expected = "unset B\nexport A='1\n2'\n# then: codex -c 'a=\"b\" rm'\n";
        assert_eq!(script(Agent::Codex, &launch), expected);
    }
}
