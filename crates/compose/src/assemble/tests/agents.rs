//! The prompts of the other agents, and how agents are named.

use super::super::{Agent, ContextMessage, Input, Warning};
use super::{assemble, example, within};

#[test]
fn codex_has_bracketed_sections_with_the_instructions_first() {
    let output = assemble(Agent::OpenaiCodex, &example());
    let expected = "\
[SYSTEM]
You are Carol, a UI/UX designer

Focus on accessibility and user experience

[TEAM_TASK]
Design the user dashboard

[CONTEXT]
- kailai -> carol: Can you design the UI?
- max -> carol: I suggest a clean interface

[MESSAGE]
What UI framework should we use?";
    assert_eq!(output.prompt, expected);
    assert_eq!(output.system_flag, None);
}

#[test]
fn claude_separates_system_flag_from_prompt() {
    let output = assemble(Agent::ClaudeCode, &example());
    let expected = "\
[TEAM_TASK]
Design the user dashboard

[CONTEXT]
- kailai -> carol: Can you design the UI?
- max -> carol: I suggest a clean interface

[MESSAGE]
What UI framework should we use?";
    assert_eq!(output.prompt, expected);
    let flag = "You are Carol, a UI/UX designer\n\nFocus on accessibility and user experience";
    assert_eq!(output.system_flag.as_deref(), Some(flag));
}

#[test]
fn plain_has_no_headers() {
    let output = assemble(Agent::Plain, &example());
    let expected = "\
You are Carol, a UI/UX designer

Focus on accessibility and user experience

Design the user dashboard

kailai: Can you design the UI?
max: I suggest a clean interface

What UI framework should we use?";
    assert_eq!(output.prompt, expected);
    assert_eq!(output.system_flag, None);
}

#[test]
fn system_flag_is_built_of_what_is_there() {
    let rows: [([Option<&str>; 2], Option<&str>); 6] = [
        ([None, None], None),
        ([Some(" "), Some("\n")], None),
        ([Some(" a "), None], Some("a")),
        ([None, Some("b\n")], Some("b")),
        ([Some("a"), Some(" ")], Some("a")),
        ([Some("a\n\nA"), Some("b")], Some("a\n\nA\n\nb")),
    ];
    for (parts, expected) in rows {
        let [system_instruction, instruction_file] = parts.map(|part| part.map(Into::into));
        let input = Input { system_instruction, instruction_file, ..Input::new("Go") };
        let output = assemble(Agent::ClaudeCode, &input);
        assert_eq!(output.system_flag.as_deref(), expected);
        assert_eq!(output.prompt, "[MESSAGE]\nGo");
    }
}

#[test]
fn a_message_to_nobody_is_to_all() {
    let context = vec![ContextMessage::new("a", "x"), ContextMessage::new("b", "y").addressed("")];
    let input = Input { context, ..Input::default() };
    for agent in [Agent::ClaudeCode, Agent::OpenaiCodex] {
        assert_eq!(assemble(agent, &input).prompt, "[CONTEXT]\n- a -> all: x\n- b -> all: y");
    }
}

/// A prompt of 218 bytes and a flag of 68.
fn claude_example() -> Input<'static> {
    Input {
        context: vec![
            ContextMessage::new("ada", "The parser loses the last line of a file").addressed("bea"),
            ContextMessage::new("cem", "It happens only without a final line feed"),
        ],
        team_task: Some("Ship the new parser this week".into()),
        system_instruction: Some("You are Bea, a reviewer of code".into()),
        instruction_file: Some("Point at lines and say why it is so".into()),
        ..Input::new("Is the fix in the reader complete and safe?")
    }
}

#[test]
fn claude_counts_prompt_and_flag_against_the_budget() {
    let whole = assemble(Agent::ClaudeCode, &within(286, claude_example()));
    assert_eq!((whole.prompt.len(), whole.system_flag.as_ref().map(String::len)), (218, Some(68)));
    assert!(whole.trimmed.is_nothing());
    let trimmed = assemble(Agent::ClaudeCode, &within(285, claude_example()));
    assert!(!trimmed.prompt.contains("ada -> bea") && trimmed.prompt.contains("cem -> all"));
    assert_eq!(trimmed.trimmed.context_messages, 1);
}

#[test]
fn claude_does_not_trim_system_flag() {
    let input = Input { team_task: None, ..claude_example() };
    let output = assemble(Agent::ClaudeCode, &within(68, input.clone()));
    assert_eq!((output.prompt.as_str(), output.bytes()), ("", 68));
    let overflow =
        Agent::ClaudeCode.assemble(&within(67, input)).expect_err("the flag is too long");
    assert_eq!((overflow.needed_bytes, overflow.allowed_bytes), (68, 67));
}

#[test]
fn names_and_short_names_are_read() {
    for agent in Agent::ALL {
        assert_eq!(Agent::parse(agent.as_str()), Some(agent));
        assert_eq!(agent.alias().map_or(Some(agent), Agent::parse), Some(agent));
    }
    assert_eq!(Agent::parse("cursor"), None);
    assert_eq!(Agent::or_plain(" Claude "), (Agent::ClaudeCode, None));
}

#[test]
fn an_unknown_agent_gets_the_plain_prompt_and_a_warning() {
    let (agent, warning) = Agent::or_plain(" Cursor");
    assert_eq!(agent, Agent::Plain);
    let text = warning.as_ref().map(Warning::to_string).unwrap_or_default();
    let expected = "[ContextManager] Unknown agentType \" Cursor\" (normalized: \"cursor\"), using PlainTextAssembler";
    assert_eq!(text, expected);
}

#[test]
fn debug_output_holds_no_content() {
    let input = example();
    let output = assemble(Agent::ClaudeCode, &input);
    let shown = format!("{input:?} {:?} {output:?}", input.context);
    for word in ["Carol", "kailai", "UI", "dashboard", "accessibility"] {
        assert!(!shown.contains(word), "{word} in {shown}");
    }
}
