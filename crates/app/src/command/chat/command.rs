//! What a line that begins with a slash asks for.

use anyhow::Result;

use super::dialogue::Dialogue;
use super::screen::Screen;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::command) enum Command {
    /// The model to go on with; without one, those that there are.
    Model(Option<String>),
    /// The instructions to go on with; without any, those that there are.
    System(Option<String>),
    History,
    Fork,
    Help,
    Quit,
    Unknown(String),
}

const HELP: &str = "\
/model [NAME]    go on with another model; without a name, list them
/system [TEXT]   give other instructions from the next turn on; without any, show them
/history         show what was said
/fork            go on in a copy, and leave this conversation as it is
/help            show this
/quit            leave; so does Ctrl-D

A line that ends in \\ goes on in the next. Lines between \"\"\" and \"\"\" are one message. // begins a message with a slash.
Ctrl-C stops an answer and keeps what came of it.";

impl Command {
    /// The command of a line; none if the line is a message.
    pub(super) fn read(line: &str) -> Option<Self> {
        let rest = line.strip_prefix('/').filter(|rest| !rest.starts_with('/'))?;
        let (name, value) = match rest.split_once(char::is_whitespace) {
            Some((name, value)) => {
                (name, Some(value.trim().to_owned()).filter(|it| !it.is_empty()))
            }
            None => (rest, None),
        };
        Some(match name {
            "model" => Self::Model(value),
            "system" => Self::System(value),
            "history" => Self::History,
            "fork" => Self::Fork,
            "help" | "?" => Self::Help,
            "quit" | "exit" => Self::Quit,
            name => Self::Unknown(name.to_owned()),
        })
    }

    pub(super) fn run(self, dialogue: &mut Dialogue, screen: &mut Screen) -> Result<()> {
        match self {
            Self::Model(Some(model)) => match dialogue.change_model(model) {
                Ok(()) => screen.note(&format!("the next answer is {}'s", dialogue.model)),
                Err(error) => screen.fail(&error),
            },
            Self::Model(None) => match dialogue.models() {
                Ok(models) => screen.note(&format!(
                    "now {}; there are\n  {}",
                    dialogue.model,
                    models.join("\n  ")
                )),
                Err(error) => screen.fail(&error),
            },
            Self::System(Some(text)) => {
                dialogue.system = Some(text);
                screen.note("from the next turn on")
            }
            Self::System(None) => match dialogue.instructions() {
                Ok(Some(text)) => screen.note(&text),
                Ok(None) => screen.note("there are no instructions; /system TEXT gives some"),
                Err(error) => screen.fail(&error),
            },
            Self::History => match dialogue.history() {
                Ok(messages) if messages.is_empty() => screen.note("nothing has been said yet"),
                Ok(messages) => screen.history(&messages),
                Err(error) => screen.fail(&error),
            },
            Self::Fork => match dialogue.fork() {
                Ok(id) => screen.note(&format!("this is {id} from now on")),
                Err(error) => screen.fail(&error),
            },
            Self::Help => screen.note(HELP),
            Self::Quit => Ok(()),
            Self::Unknown(name) => {
                screen.note(&format!("there is no /{name}: /help lists what there is"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_slash_are_commands_and_those_with_two_are_not() {
        let model = |name: Option<&str>| Some(Command::Model(name.map(str::to_owned)));
        assert_eq!(Command::read("/model  sim-chat/x "), model(Some("sim-chat/x")));
        assert_eq!(Command::read("/model "), model(None));
        assert_eq!(Command::read("/fork"), Some(Command::Fork));
        assert_eq!(Command::read("/usr/bin"), Some(Command::Unknown("usr/bin".to_owned())));
        assert_eq!(Command::read("//usr/bin"), None);
        assert_eq!(Command::read("hello /model"), None);
    }
}
