//! The prompt of Gemini CLI, section by section.

use super::super::{Agent, ContextMessage, Input};
use super::{assemble, example, within};

fn prompt(input: &Input<'_>) -> String {
    assemble(Agent::GoogleGemini, input).prompt
}

const WHOLE: &str = "\
Instructions:
You are Carol, a UI/UX designer

Focus on accessibility and user experience

Team Task:
Design the user dashboard

Conversation so far:
- kailai: Can you design the UI?
- max: I suggest a clean interface

Your task:
What UI framework should we use?";

#[test]
fn agent_type_is_google_gemini() {
    assert_eq!(Agent::GoogleGemini.as_str(), "google-gemini");
}

#[test]
fn produces_correct_format_with_all_sections() {
    assert_eq!(prompt(&example()), WHOLE);
    assert_eq!(WHOLE.len(), 262);
}

#[test]
fn produces_correct_format_without_instructions() {
    let context = vec![ContextMessage::new("kailai", "Hello").addressed("carol")];
    let input = Input { context, ..Input::new("What do you suggest?") };
    let expected = "Conversation so far:\n- kailai: Hello\n\nYour task:\nWhat do you suggest?";
    assert_eq!(prompt(&input), expected);
}

#[test]
fn produces_correct_format_with_a_message_only() {
    assert_eq!(prompt(&Input::new("Hello Gemini")), "Your task:\nHello Gemini");
}

#[test]
fn returns_undefined_system_flag() {
    assert_eq!(assemble(Agent::GoogleGemini, &example()).system_flag, None);
    assert_eq!(assemble(Agent::GoogleGemini, &Input::default()).system_flag, None);
}

#[test]
fn follows_correct_section_order() {
    let prompt = prompt(&example());
    let headers = ["Instructions:\n", "Team Task:\n", "Conversation so far:\n", "Your task:\n"];
    let places = headers.map(|header| prompt.find(header).expect("the header is there"));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn uses_natural_language_headers_no_brackets() {
    assert!(!prompt(&example()).contains(['[', ']']));
}

#[track_caller]
fn check_instructions(parts: [Option<&'static str>; 2], expected: &str) {
    let [system_instruction, instruction_file] = parts.map(|part| part.map(Into::into));
    let input = Input { system_instruction, instruction_file, ..Input::new("Go") };
    assert_eq!(prompt(&input), format!("{expected}Your task:\nGo"));
}

#[test]
fn instructions_include_system_instruction() {
    check_instructions([Some(" Be kind \n"), None], "Instructions:\nBe kind\n\n");
}

#[test]
fn instructions_include_instruction_file_text() {
    check_instructions([None, Some("\u{feff}Be brief\n")], "Instructions:\nBe brief\n\n");
}

#[test]
fn instructions_join_both_with_double_newline() {
    check_instructions([Some("A\n\nB"), Some("\nC")], "Instructions:\nA\n\nB\n\nC\n\n");
}

#[test]
fn instructions_are_omitted_when_both_undefined() {
    check_instructions([None, None], "");
}

#[test]
fn instructions_are_omitted_when_both_whitespace() {
    check_instructions([Some("  \n"), Some("\t")], "");
}

#[test]
fn instructions_use_their_header() {
    assert!(prompt(&example()).starts_with("Instructions:\n"));
}

#[test]
fn conversation_formats_messages_as_from_and_content() {
    let context = vec![ContextMessage::new("max", "  a: b\n\n[c] \"日本語\" \n")];
    let expected = "Conversation so far:\n- max:   a: b\n\n[c] \"日本語\" \n";
    assert_eq!(prompt(&Input { context, ..Input::default() }), expected);
}

#[test]
fn conversation_ignores_to_field() {
    let prompt = prompt(&example());
    assert!(!prompt.contains("carol") && !prompt.contains("->"), "{prompt}");
}

#[test]
fn conversation_uses_its_header() {
    assert!(prompt(&example()).contains("\n\nConversation so far:\n- kailai"));
}

#[test]
fn conversation_separates_messages_with_newlines() {
    let context = ["a", "b", "c"].map(|from| ContextMessage::new(from, "x")).to_vec();
    let expected = "Conversation so far:\n- a: x\n- b: x\n- c: x";
    assert_eq!(prompt(&Input { context, ..Input::default() }), expected);
}

#[test]
fn omits_instructions_when_no_instructions() {
    let input = Input { system_instruction: None, instruction_file: None, ..example() };
    assert!(prompt(&input).starts_with("Team Task:\n"));
}

#[test]
fn omits_team_task_when_team_task_is_null() {
    for team_task in [None, Some(" \n".into())] {
        assert!(!prompt(&Input { team_task, ..example() }).contains("Team Task:"));
    }
}

#[test]
fn omits_conversation_so_far_when_context_messages_is_empty() {
    let input = Input { context: Vec::new(), ..example() };
    assert!(!prompt(&input).contains("Conversation so far:"));
}

#[test]
fn omits_your_task_when_current_message_is_empty() {
    for current in ["", " \n "] {
        let input = Input { current_message: current.into(), ..example() };
        assert!(prompt(&input).ends_with("- max: I suggest a clean interface"));
    }
}

#[test]
fn returns_empty_prompt_when_all_sections_empty() {
    for agent in Agent::ALL {
        let output = assemble(agent, &Input::default());
        assert_eq!((output.prompt.as_str(), output.system_flag), ("", None));
        assert!(output.trimmed.is_nothing());
    }
}

#[test]
fn returns_unchanged_when_within_budget() {
    let output = assemble(Agent::GoogleGemini, &within(262, example()));
    assert_eq!(output.prompt, WHOLE);
    assert!(output.trimmed.is_nothing());
}

#[test]
fn trims_oldest_context_messages_first() {
    let output = assemble(Agent::GoogleGemini, &within(261, example()));
    assert_eq!(output.prompt, WHOLE.replace("- kailai: Can you design the UI?\n", ""));
    assert_eq!((output.trimmed.context_messages, output.trimmed.task_bytes), (1, 0));
}

#[test]
fn preserves_instructions_section() {
    let fixed = &WHOLE[..WHOLE.find("\n\nTeam Task:").expect("a team task")];
    for bytes_max in 127..=262 {
        assert!(prompt(&within(bytes_max, example())).starts_with(fixed), "{bytes_max}");
    }
}

#[test]
fn preserves_team_task_section() {
    let section = "\n\nTeam Task:\nDesign the user dashboard";
    for bytes_max in 127..=262 {
        assert!(prompt(&within(bytes_max, example())).contains(section), "{bytes_max}");
    }
}

#[test]
fn truncates_your_task_as_last_resort() {
    let output = assemble(Agent::GoogleGemini, &within(150, example()));
    assert!(output.prompt.ends_with("\n\nYour task:\nWhat UI fr"), "{}", output.prompt);
    assert_eq!(output.prompt.len(), 150);
    assert_eq!((output.trimmed.context_messages, output.trimmed.task_bytes), (2, 22));
}
