//! The file that names a team, read whole: what is wrong in it is said with its line and column.

use std::fs::File;
use std::io;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use sabir_compose::assemble::{Agent, BYTES_MAX_DEFAULT, TEAM_TASK_BYTES_MAX, WINDOW_DEFAULT};
use sabir_compose::team::MemberName;
use serde::Deserialize;
use toml::Spanned;

use crate::output::printable;

/// Who is in a team, and what all of them work on.
#[derive(Debug)]
pub(super) struct Team {
    pub(super) task: Option<String>,
    /// How many messages before the last a member is shown.
    pub(super) window: usize,
    /// How many bytes a member's prompt may have.
    pub(super) bytes_max: usize,
    pub(super) members: Vec<Member>,
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: MemberName,
    pub(super) voice: Voice,
    pub(super) instructions: Option<String>,
    /// What the instruction file says.
    pub(super) instruction_file: Option<String>,
}

/// Who answers for a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// Whatever the gateway offers first.
    Default,
    Model(String),
    /// An agent CLI, with a model of its own or the one that is named.
    Agent(Agent, Option<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    task: Option<Spanned<String>>,
    window: Option<usize>,
    max_bytes: Option<usize>,
    #[serde(default)]
    member: Vec<Spanned<WrittenMember>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMember {
    name: Spanned<String>,
    agent: Option<Spanned<String>>,
    model: Option<Spanned<String>>,
    instructions: Option<String>,
    instruction_file: Option<Spanned<String>>,
}

/// What is wrong, and where.
struct Problem {
    at: Range<usize>,
    message: String,
}

/// Reads the file and the instruction files that it names, which are looked for beside it.
pub(super) fn read(file: &Path) -> Result<Team> {
    let shown = printable(&file.display().to_string());
    let text = read_text(file).with_context(|| format!("cannot read {shown}"))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    parse(&text, folder).map_err(|problem| {
        let (line, column) = place(&text, problem.at.start);
        anyhow!("{shown}:{line}:{column}: {}", problem.message)
    })
}

fn parse(text: &str, folder: &Path) -> Result<Team, Problem> {
    let written: Written = toml::from_str(text).map_err(|error| Problem {
        at: error.span().unwrap_or_default(),
        message: error.message().to_owned(),
    })?;
    let task = written.task.as_ref();
    if let Some(task) = task.filter(|task| task.get_ref().len() > TEAM_TASK_BYTES_MAX) {
        let message = format!("a task may have {TEAM_TASK_BYTES_MAX} bytes");
        return Err(Problem { at: task.span(), message });
    }
    let mut members: Vec<Member> = Vec::new();
    for member in written.member {
        members.push(read_member(member, folder, &members)?);
    }
    if members.is_empty() {
        let message = "a team has members: add [[member]] with a name for each";
        return Err(Problem { at: text.len()..text.len(), message: message.to_owned() });
    }
    Ok(Team {
        task: written.task.map(Spanned::into_inner),
        window: written.window.unwrap_or(WINDOW_DEFAULT),
        bytes_max: written.max_bytes.unwrap_or(BYTES_MAX_DEFAULT),
        members,
    })
}

fn read_member(
    written: Spanned<WrittenMember>,
    folder: &Path,
    before: &[Member],
) -> Result<Member, Problem> {
    let WrittenMember { name, agent, model, instructions, instruction_file } = written.into_inner();
    let at = name.span();
    let name = MemberName::new(name.get_ref())
        .map_err(|error| Problem { at: at.clone(), message: error.to_string() })?;
    if before.iter().any(|other| other.name.is(name.as_str())) {
        let message = format!("there is a member called {} already", printable(name.as_str()));
        return Err(Problem { at, message });
    }
    let instruction_file = instruction_file.map(|path| read_beside(&path, folder)).transpose()?;
    Ok(Member { name, voice: voice(agent, model)?, instructions, instruction_file })
}

fn voice(agent: Option<Spanned<String>>, model: Option<Spanned<String>>) -> Result<Voice, Problem> {
    if let Some(model) = model.as_ref().filter(|model| model.get_ref().trim().is_empty()) {
        return Err(Problem { at: model.span(), message: "a model has a name".to_owned() });
    }
    let model = model.map(Spanned::into_inner);
    let Some(agent) = agent else { return Ok(model.map_or(Voice::Default, Voice::Model)) };
    match Agent::parse(agent.get_ref()) {
        Some(known) => Ok(Voice::Agent(known, model)),
        None => {
            let known = Agent::ALL.map(Agent::as_str).join(", ");
            let message = format!("there is no such agent; there are {known}");
            Err(Problem { at: agent.span(), message })
        }
    }
}

fn read_beside(path: &Spanned<String>, folder: &Path) -> Result<String, Problem> {
    read_text(&folder.join(path.get_ref())).map_err(|error| Problem {
        at: path.span(),
        message: format!("the instruction file cannot be read: {error}"),
    })
}

/// More is no text of a person's, and may have no end.
const TEXT_BYTES_MAX: u64 = 16 * 1024 * 1024;

fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(TEXT_BYTES_MAX + 1).read_to_string(&mut text)?;
    match read as u64 > TEXT_BYTES_MAX {
        true => Err(io::Error::other("it has more than 16 MiB")),
        false => Ok(text),
    }
}

/// Line and column, from 1, in characters.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let problem = parse(text, Path::new("nowhere")).expect_err(text);
        let (line, column) = place(text, problem.at.start);
        assert_eq!(format!("{line}:{column}: {}", problem.message), expected);
    }

    #[test]
    fn members_have_a_voice() {
        let text = "task = \"T\"\n[[member]]\nname = \"ann\"\n[[member]]\nname = \"bob\"\nagent = \"claude\"\nmodel = \"opus\"\n\
             [[member]]\nname = \"eve\"\nmodel = \"sim-chat/x\"\n";
        let team = parse(text, Path::new("")).unwrap_or_else(|it| panic!("{}", it.message));
        let voices: Vec<Voice> = team.members.iter().map(|it| it.voice.clone()).collect();
        let claude = Voice::Agent(Agent::ClaudeCode, Some("opus".to_owned()));
        assert_eq!(voices, [Voice::Default, claude, Voice::Model("sim-chat/x".to_owned())]);
        assert_eq!((team.window, team.bytes_max), (5, 768 * 1024));
    }

    #[cfg(unix)]
    #[test]
    fn instructions_without_an_end_are_refused() {
        refused(
            "[[member]]\nname = \"a\"\ninstruction_file = \"/dev/zero\"\n",
            "3:20: the instruction file cannot be read: it has more than 16 MiB",
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        refused("", "1:1: a team has members: add [[member]] with a name for each");
        refused(
            "[[member]]\nname = \"a]\"\n",
            "2:8: a name has no brackets, commas or line breaks: `[NEXT: name]` could not say it",
        );
        refused("[[member]]\nname = \"User\"\n", "2:8: `user` is the person at the terminal");
        refused(
            "[[member]]\nname = \"ä\"\n\n[[member]]\nname = \"Ä\"\n",
            "5:8: there is a member called Ä already",
        );
        refused(
            "[[member]]\nname = \"a\"\nagent = \"x\"\n",
            "3:9: there is no such agent; there are claude-code, openai-codex, google-gemini, plain",
        );
        refused("[[member]]\nname = \"a\"\nmodel = \" \"\n", "3:9: a model has a name");
        let problem =
            parse("[[member]]\nname = \"a\"\ninstruction_file = \"b.md\"\n", Path::new("nowhere"));
        let problem = problem.expect_err("no file");
        assert_eq!(problem.at.start, 41);
        assert!(problem.message.starts_with("the instruction file cannot be read: "));
        let problem =
            parse("[[member]]\nname = \"a\"\nmood = \"b\"\n", Path::new("")).expect_err("no key");
        assert!(problem.message.contains("unknown field `mood`"), "{}", problem.message);
        assert_eq!(place("[[member]]\nname = \"a\"\nmood = \"b\"\n", problem.at.start), (3, 1));
        assert!(parse("task = \n", Path::new("")).is_err());
    }
}
