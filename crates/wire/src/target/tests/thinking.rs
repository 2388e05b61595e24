//! How each family is made to think, and how efforts are fitted to it.

use crate::target::Effort::{High, Low, Max, Medium, Minimal, Xhigh};
use crate::target::{Disable, Effort, Family, Fit, Thinking};

#[test]
fn thinking_is_asked_for_in_the_form_of_each_generation() {
    let budget = |max, efforts| Thinking::AnthropicBudget { min: 1_024, max, efforts };
    let adaptive = |efforts, disable, by_default| Thinking::AnthropicAdaptive {
        efforts,
        disable,
        by_default,
        budget_too: efforts == CLAUDE_4_6,
    };
    let effort = |levels, default| Thinking::OpenaiEffort { levels, default };
    const CLAUDE_4_6: &[Effort] = &[Low, Medium, High, Max];
    const ALL_CLAUDE: &[Effort] = &[Low, Medium, High, Xhigh, Max];
    const GPT: &[Effort] = &[Effort::None, Low, Medium, High, Xhigh];
    let cases = [
        ("claude-3-5-sonnet", Thinking::None),
        ("claude-3-7-sonnet", budget(63_999, &[])),
        ("claude-opus-4", budget(31_999, &[])),
        ("claude-opus-4-5", budget(63_999, &[Low, Medium, High])),
        ("claude-sonnet-4-6", adaptive(CLAUDE_4_6, Disable::Always, false)),
        ("claude-opus-4-8", adaptive(ALL_CLAUDE, Disable::Always, false)),
        ("claude-sonnet-5-5", adaptive(ALL_CLAUDE, Disable::Always, true)),
        ("claude-opus-5", adaptive(ALL_CLAUDE, Disable::UpToHigh, true)),
        ("claude-opus-5-5", adaptive(ALL_CLAUDE, Disable::Never, true)),
        ("claude-mythos-5", adaptive(ALL_CLAUDE, Disable::Never, true)),
        ("gpt-4.1", Thinking::None),
        ("o4-mini", effort(&[Low, Medium, High], Medium)),
        ("gpt-5-mini", effort(&[Minimal, Low, Medium, High], Medium)),
        ("gpt-5-pro", effort(&[High], High)),
        ("gpt-5.1", effort(&[Effort::None, Low, Medium, High], Effort::None)),
        ("gpt-5.1-codex-max", effort(&[Low, Medium, High, Xhigh], Medium)),
        ("gpt-5.4", effort(GPT, Effort::None)),
        ("gpt-5.5", effort(GPT, Medium)),
        ("gpt-5.6-sol", effort(&[Effort::None, Low, Medium, High, Xhigh, Max], Medium)),
        ("gemini-2.0-flash", Thinking::None),
        ("gemini-3-pro-preview", Thinking::GeminiLevel { levels: &[Low, High] }),
        ("gemini-3.1-pro", Thinking::GeminiLevel { levels: &[Low, Medium, High] }),
        ("gemini-3-flash", Thinking::GeminiLevel { levels: &[Minimal, Low, Medium, High] }),
        ("gemini-3.7-flash", Thinking::GeminiLevel { levels: &[Low, Medium, High] }),
        ("nobody", Thinking::Unknown),
    ];
    for (model, expected) in cases {
        assert_eq!(Family::of(model).thinking, expected, "{model}");
    }
}

#[test]
fn efforts_are_words_in_one_order() {
    for pair in Effort::ALL.windows(2) {
        assert!(pair[0] < pair[1], "{pair:?}");
    }
    for effort in Effort::ALL {
        assert_eq!(Effort::parse(effort.as_str()), Some(effort));
        assert_eq!(Effort::parse(&effort.as_str().to_uppercase()), Some(effort));
    }
    assert_eq!(Effort::parse("extreme"), None);
}

#[test]
fn a_missing_level_gives_way_to_its_neighbour() {
    let cases = [
        ("gpt-5-nano", Max, High),
        ("gpt-5-nano", Effort::None, Minimal),
        ("gpt-5-nano", Low, Low),
        ("gpt-5.1", Minimal, Low),
        ("gpt-5.4", Max, Xhigh),
        ("gpt-5.6", Max, Max),
        ("o3", Effort::None, Low),
        ("gpt-5-pro", Low, High),
        ("gpt-4o", High, Effort::None),
        ("claude-opus-4-6", Xhigh, High),
        ("claude-opus-4-6", Max, Max),
        ("claude-opus-4-7", Xhigh, Xhigh),
        ("claude-opus-4-7", Minimal, Low),
        ("claude-opus-4-7", Effort::None, Effort::None),
        ("claude-fable-5", Effort::None, Low),
        ("gemini-2.5-pro", Effort::None, Minimal),
        ("gemini-2.5-flash", Effort::None, Effort::None),
        ("gemini-3-pro", Medium, High),
        ("gemini-3-pro", Minimal, Low),
        ("gemini-3-flash", Effort::None, Minimal),
        ("gemini-3-flash", Max, High),
        ("nobody", Minimal, Minimal),
    ];
    for (model, asked, expected) in cases {
        let fit = asked.nearest(&Family::of(model));
        let changed = asked != expected;
        assert_eq!(fit, Fit { value: expected, changed }, "{model} at {asked:?}");
    }
}

#[test]
fn budgets_stay_within_the_family() {
    let cases = [
        ("claude-sonnet-4-5", Effort::None, 0, false),
        ("claude-sonnet-4-5", Minimal, 1_024, true),
        ("claude-sonnet-4-5", Low, 1_024, false),
        ("claude-sonnet-4-5", Medium, 8_192, false),
        ("claude-sonnet-4-5", High, 16_384, false),
        ("claude-sonnet-4-5", Xhigh, 32_768, false),
        ("claude-sonnet-4-5", Max, 63_999, false),
        ("claude-opus-4-1", Xhigh, 31_999, false),
        ("gemini-2.5-flash", Effort::None, 0, false),
        ("gemini-2.5-flash", Minimal, 512, false),
        ("gemini-2.5-flash", Xhigh, 24_576, false),
        ("gemini-2.5-pro", Effort::None, 128, true),
        ("gemini-2.5-pro", Max, 32_768, false),
        ("gemini-2.5-flash-lite", Minimal, 512, false),
        ("nobody", Max, 32_768, false),
    ];
    for (model, effort, value, changed) in cases {
        let fit = effort.budget_for(&Family::of(model));
        assert_eq!(fit, Fit { value, changed }, "{model} at {effort:?}");
    }
}

#[test]
fn budgets_come_back_as_the_effort_they_stand_for() {
    let cases = [(0, Effort::None), (1, Low), (2_047, Low), (2_048, Medium), (5_000, Medium)];
    let more = [(10_000, High), (24_575, High), (24_576, Xhigh), (u64::MAX, Xhigh)];
    for (tokens, expected) in cases.into_iter().chain(more) {
        assert_eq!(Effort::for_budget(tokens), expected, "{tokens}");
    }
    for model in ["claude-sonnet-4-5", "claude-opus-4", "gemini-2.5-flash", "gemini-2.5-pro"] {
        for effort in [Low, Medium, High, Xhigh] {
            let budget = effort.budget_for(&Family::of(model)).value;
            assert_eq!(Effort::for_budget(budget), effort, "{model}");
        }
    }
}
