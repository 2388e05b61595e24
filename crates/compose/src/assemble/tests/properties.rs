//! Laws that hold for every input, agent and budget.

use std::borrow::Cow;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::text::trimmed;
use super::super::{Agent, ContextMessage, Input, clean};

/// Prose, characters of every length, whitespace, and what looks like structure.
fn text() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "a",
        "word ",
        "é",
        "日本",
        "🦀",
        "e\u{301}",
        " ",
        "\n",
        "\n\n",
        "\t",
        "\u{feff}",
        "[",
        "]",
        "```\n",
        "~~~",
        "[NEXT: a]",
        "[FROM:",
        "[TEAM_TASK]",
        "[TEAM_TASK: b",
        "[MESSAGE]\n",
        "Your task:\n",
        "Instructions:\n",
        "Team Task:\n",
        "Conversation so far:\n",
        "- x: ",
    ]);
    vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

fn message() -> impl Strategy<Value = ContextMessage<'static>> {
    (text(), option::of(text()), text()).prop_map(|(from, to, content)| ContextMessage {
        from: from.into(),
        to: to.map(Into::into),
        content: content.into(),
    })
}

fn input() -> impl Strategy<Value = Input<'static>> {
    let fixed = (option::of(text()), option::of(text()), option::of(text()));
    (vec(message(), 0..12), text(), fixed).prop_map(|(context, current_message, fixed)| {
        let own = |text: Option<String>| text.map(Cow::Owned);
        Input {
            context,
            current_message: current_message.into(),
            team_task: own(fixed.0),
            system_instruction: own(fixed.1),
            instruction_file: own(fixed.2),
            ..Input::default()
        }
    })
}

fn agent() -> impl Strategy<Value = Agent> {
    select(Agent::ALL.to_vec())
}

/// The input with only the newest messages and the beginning of the task.
fn shortened<'i>(input: &'i Input<'_>, dropped: usize, task: &'i str) -> Input<'i> {
    let context = input.context[dropped..].to_vec();
    Input { context, current_message: task.into(), ..input.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn within_budget_means_unchanged(input in input(), agent in agent()) {
        let whole = agent.assemble(&input)?;
        prop_assert!(whole.trimmed.is_nothing());
        let exact = agent.assemble(&Input { bytes_max: whole.bytes(), ..input })?;
        prop_assert_eq!(whole, exact);
    }

    #[test]
    fn a_budget_is_kept_and_used(input in input(), agent in agent(), share in 0.0..1.1_f64) {
        let whole = agent.assemble(&input)?;
        let bytes_max = (whole.bytes() as f64 * share) as usize;
        let budgeted = Input { bytes_max, ..input.clone() };
        let bare = shortened(&input, input.context.len(), "");
        let fixed = agent.assemble(&bare)?;
        let Ok(output) = agent.assemble(&budgeted) else {
            prop_assert!(fixed.bytes() > bytes_max);
            return Ok(());
        };

        // Never over the budget, and a fixed part is never lost.
        prop_assert!(output.bytes() <= bytes_max);
        prop_assert!(output.prompt.starts_with(&fixed.prompt));
        prop_assert_eq!(&output.system_flag, &fixed.system_flag);

        // What is left is what the shorter input says, character by character.
        let task = trimmed(&input.current_message);
        let kept = task.len() - output.trimmed.task_bytes;
        prop_assert!(task.is_char_boundary(kept));
        let dropped = output.trimmed.context_messages;
        if trimmed(&task[..kept]).len() == kept {
            let same = agent.assemble(&shortened(&input, dropped, &task[..kept]))?;
            prop_assert_eq!(&output.prompt, &same.prompt);
        }

        // One message or one character more would be too much.
        if dropped > 0 {
            let more = agent.assemble(&shortened(&input, dropped - 1, task))?;
            prop_assert!(more.bytes() > bytes_max);
        }
        if kept < task.len() {
            prop_assert_eq!(dropped, input.context.len());
            let next = kept + task[kept..].chars().next().map_or(0, char::len_utf8);
            if trimmed(&task[..next]).len() == next {
                let more = agent.assemble(&shortened(&input, dropped, &task[..next]))?;
                prop_assert!(more.bytes() > bytes_max);
            }
        }
    }

    #[test]
    fn the_system_flag_is_claudes_alone(input in input(), agent in agent()) {
        let output = agent.assemble(&input)?;
        prop_assert!(agent == Agent::ClaudeCode || output.system_flag.is_none());
    }

    #[test]
    fn cleaning_only_takes_away(text in text()) {
        let cleaned = clean(&text).text.into_owned();
        let mut rest = text.chars();
        prop_assert!(cleaned.chars().all(|kept| rest.any(|character| character == kept)));
    }

    #[test]
    fn what_has_no_marker_is_not_cleaned(text in text()) {
        let text = text.replace("[FROM:", "").replace("[NEXT:", "").replace("[TEAM_TASK", "");
        prop_assert_eq!(&*clean(&text).text, &*text);
    }
}
