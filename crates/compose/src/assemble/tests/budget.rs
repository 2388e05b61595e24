//! Every number of the budget.

use super::super::{Agent, ContextMessage, Input, Output};
use super::{assemble, example, within};

fn gemini(bytes_max: usize) -> Output {
    assemble(Agent::GoogleGemini, &within(bytes_max, example()))
}

#[test]
fn each_budget_keeps_what_fits() {
    for (budgets, bytes, dropped) in [(262..=300, 262, 0), (229..=261, 229, 1), (172..=228, 172, 2)]
    {
        for bytes_max in budgets {
            let output = gemini(bytes_max);
            assert_eq!((output.bytes(), output.trimmed.context_messages), (bytes, dropped));
            assert_eq!(output.prompt.contains("Conversation so far:"), dropped < 2, "{bytes_max}");
            assert!(output.prompt.ends_with("What UI framework should we use?"));
        }
    }
}

#[test]
fn a_task_without_context_is_cut_to_the_byte() {
    for bytes_max in 141..=171 {
        let output = gemini(bytes_max);
        assert_eq!(output.bytes(), bytes_max);
        assert_eq!(output.trimmed.task_bytes, 172 - bytes_max);
    }
}

#[test]
fn a_task_without_room_for_a_character_goes_with_its_header() {
    for bytes_max in 127..=140 {
        let output = gemini(bytes_max);
        assert_eq!(output.bytes(), 127, "{bytes_max}");
        assert!(output.prompt.ends_with("Design the user dashboard"));
        assert_eq!(output.trimmed.task_bytes, "What UI framework should we use?".len());
    }
}

#[test]
fn fixed_parts_that_do_not_fit_are_an_error() {
    for bytes_max in [0, 126] {
        let input = within(bytes_max, example());
        let overflow = Agent::GoogleGemini.assemble(&input).expect_err("too small a budget");
        assert_eq!((overflow.needed_bytes, overflow.allowed_bytes), (127, bytes_max));
        let text = format!("instructions and team task need 127 bytes, {bytes_max} are allowed");
        assert_eq!(overflow.to_string(), text);
    }
}

#[test]
fn the_default_budget_is_768_kib() {
    assert_eq!(Input::new("").bytes_max, 768 * 1024);
}

#[test]
fn a_cut_never_splits_a_character() {
    let task = "é日🦀e\u{301}".repeat(3);
    let whole = "Your task:\n".len() + task.len();
    for bytes_max in 0..=whole {
        let output = assemble(Agent::GoogleGemini, &within(bytes_max, Input::new(&*task)));
        let kept = output.prompt.strip_prefix("Your task:\n").unwrap_or_default();
        assert!(task.starts_with(kept) && output.bytes() <= bytes_max, "{bytes_max}");
        let next = task[kept.len()..].chars().next().map_or(0, char::len_utf8);
        let is_tight = output.prompt.is_empty() || output.bytes() + next > bytes_max;
        assert!(is_tight || kept.len() == task.len(), "{bytes_max}");
    }
}

#[test]
fn without_fixed_parts_there_is_no_joint_to_pay_for() {
    let context = vec![ContextMessage::new("a", "b"), ContextMessage::new("c", "d")];
    let input = Input { context, ..Input::new("e") };
    let check = |bytes_max: usize, expected: &str| {
        let output = assemble(Agent::Plain, &within(bytes_max, input.clone()));
        assert_eq!(output.prompt, expected, "{bytes_max}");
    };
    check(12, "a: b\nc: d\n\ne");
    check(11, "c: d\n\ne");
    check(7, "c: d\n\ne");
    check(6, "e");
    check(1, "e");
    check(0, "");
}

#[test]
fn context_without_a_task_is_trimmed_alike() {
    let input = Input { current_message: "".into(), ..example() };
    let output = assemble(Agent::GoogleGemini, &within(200, input.clone()));
    assert!(output.prompt.ends_with("Conversation so far:\n- max: I suggest a clean interface"));
    assert_eq!(output.trimmed.context_messages, 1);
    assert_eq!(assemble(Agent::GoogleGemini, &within(130, input)).bytes(), 127);
}

#[test]
fn content_that_looks_like_a_header_does_not_confuse_the_trimming() {
    let tricky = "x\n\nYour task:\ny\n\n[MESSAGE]\nz\n\nInstructions:\n\nConversation so far:\n- ";
    for agent in Agent::ALL {
        let context = vec![ContextMessage::new("old", tricky), ContextMessage::new("new", tricky)];
        let input = Input {
            context,
            system_instruction: Some(tricky.into()),
            team_task: Some(tricky.into()),
            ..Input::new(tricky)
        };
        let whole = assemble(agent, &input);
        let trimmed = assemble(agent, &within(whole.bytes() - 1, input.clone()));
        let mut without = input.clone();
        without.context.remove(0);
        assert_eq!(trimmed.prompt, assemble(agent, &without).prompt, "{agent:?}");
        without.context.clear();
        let bare = assemble(agent, &without);
        let cut = assemble(agent, &within(bare.bytes() - 1, input));
        assert_eq!(cut.prompt, bare.prompt[..bare.prompt.len() - 1], "{agent:?}");
    }
}
