//! From what participants said to the input of an assembler.

use super::super::{Agent, Dialogue, TEAM_TASK_BYTES_MAX, Utterance, Warning};
use super::assemble;

fn dialogue(contents: &[&'static str]) -> Dialogue<'static> {
    let utterances = contents.iter().map(|content| Utterance::new("ada", *content)).collect();
    Dialogue { utterances, ..Dialogue::default() }
}

fn contents(dialogue: &Dialogue<'_>) -> Vec<String> {
    let context = dialogue.prepare().input.context;
    context.into_iter().map(|message| message.content.into_owned()).collect()
}

#[test]
fn the_last_message_is_the_task_and_five_before_it_are_shown() {
    let dialogue = dialogue(&["1", "2", "3", "4", "5", "6", "7"]);
    let prepared = dialogue.prepare();
    assert_eq!(prepared.input.current_message, "7");
    assert_eq!(contents(&dialogue), ["2", "3", "4", "5", "6"]);
    assert_eq!((prepared.left_out, prepared.warnings.len()), (1, 0));
}

#[test]
fn the_window_can_be_set() {
    let wide = Dialogue { window: 10, ..dialogue(&["1", "2", "3"]) };
    assert_eq!(contents(&wide), ["1", "2"]);
    let none = Dialogue { window: 0, ..dialogue(&["1", "2", "3"]) };
    assert!(contents(&none).is_empty());
    assert!(Dialogue::default().prepare().input.context.is_empty());
}

#[test]
fn addressees_are_listed_and_nobody_is_all() {
    let utterances = vec![
        Utterance::new("ada", "a"),
        Utterance::new("bea", "b").addressed("ada"),
        Utterance::new("cem", "c").addressed("ada").addressed("bea"),
        Utterance::new("ada", "Go"),
    ];
    let dialogue = Dialogue { utterances, ..Dialogue::default() };
    let output = assemble(Agent::ClaudeCode, &dialogue.prepare().input);
    let expected =
        "[CONTEXT]\n- ada -> all: a\n- bea -> ada: b\n- cem -> ada, bea: c\n\n[MESSAGE]\nGo";
    assert_eq!(output.prompt, expected);
}

#[test]
fn markers_are_cleaned_and_code_is_not() {
    let code = "[FROM: ada] See:\n\n```\nif x:\n\n    [NEXT: y]\n```\n[NEXT: bea]";
    let dialogue = dialogue(&[code, "Please fix it [NEXT: cem]"]);
    assert_eq!(contents(&dialogue), ["See:\n\n```\nif x:\n\n    [NEXT: y]\n```"]);
    assert_eq!(dialogue.prepare().input.current_message, "Please fix it");
}

#[test]
fn a_message_that_was_handed_on_is_shown_once() {
    assert_eq!(contents(&dialogue(&["1", "2", "2"])), ["1"]);
    let mut twice = dialogue(&["1", "2", "2"]);
    twice.utterances[1].id = Some("msg-2".into());
    twice.utterances[2].id = Some("msg-3".into());
    assert_eq!(contents(&twice), ["1", "2"]);
}

#[test]
fn a_team_task_is_given_or_said() {
    let marked = dialogue(&["[TEAM_TASK: old]", "[TEAM_TASK: new] Hi", "Go"]);
    assert_eq!(marked.prepare().input.team_task.as_deref(), Some("new"));
    let given = Dialogue { team_task: Some(" given ".into()), ..marked.clone() };
    assert_eq!(given.prepare().input.team_task.as_deref(), Some("given"));
    let blank = Dialogue { team_task: Some(" ".into()), ..marked };
    assert_eq!(blank.prepare().input.team_task.as_deref(), Some("new"));
    assert_eq!(dialogue(&["Go"]).prepare().input.team_task, None);
}

#[test]
fn a_long_team_task_is_cut_with_a_warning() {
    let task = "é".repeat(TEAM_TASK_BYTES_MAX / 2);
    let mut dialogue = Dialogue { team_task: Some(task.clone().into()), ..dialogue(&["Go"]) };
    assert!(dialogue.prepare().warnings.is_empty());
    dialogue.team_task = Some(format!("x{task}").into());
    let prepared = dialogue.prepare();
    assert_eq!(prepared.input.team_task.as_ref().map(|text| text.len()), Some(5119));
    let warnings: Vec<String> = prepared.warnings.iter().map(Warning::to_string).collect();
    let expected =
        "[ContextManager] TeamTask exceeded 5KB limit (5121 bytes), truncated to 5119 bytes";
    assert_eq!(warnings, [expected]);
}

#[test]
fn instructions_and_budget_are_passed_on() {
    let dialogue = Dialogue {
        system_instruction: Some("a".into()),
        instruction_file: Some("b".into()),
        bytes_max: 100,
        ..dialogue(&["Go"])
    };
    let input = dialogue.prepare().input;
    assert_eq!(assemble(Agent::Plain, &input).prompt, "a\n\nb\n\nGo");
    assert_eq!(input.bytes_max, 100);
}

#[test]
fn debug_output_holds_no_content() {
    let dialogue = dialogue(&["secret", "secret"]);
    let prepared = dialogue.prepare();
    let shown = format!("{dialogue:?} {:?} {prepared:?}", dialogue.utterances);
    assert!(!shown.contains("secret") && !shown.contains("ada"), "{shown}");
}
