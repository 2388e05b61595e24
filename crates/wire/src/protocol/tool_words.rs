//! The words that both of OpenAI's protocols have for the forms of tools and for the choice among them.

use crate::conversation::{AllowedMode, CallForm, ToolChoice};

/// The type of a tool of that form, and of the choice of one.
pub(super) fn form_word(form: CallForm) -> &'static str {
    match form {
        CallForm::Function => "function",
        CallForm::Custom => "custom",
    }
}

pub(super) fn form_of(word: &str) -> Option<CallForm> {
    [CallForm::Function, CallForm::Custom].into_iter().find(|form| form_word(*form) == word)
}

/// How the model may choose among the tools that it is allowed.
pub(super) fn mode_word(mode: AllowedMode) -> &'static str {
    match mode {
        AllowedMode::Auto => "auto",
        AllowedMode::Required => "required",
    }
}

pub(super) fn mode_of(word: &str) -> Option<AllowedMode> {
    [AllowedMode::Auto, AllowedMode::Required].into_iter().find(|mode| mode_word(*mode) == word)
}

/// The choice that is one word.
pub(super) fn choice_of(word: &str) -> Option<ToolChoice<'static>> {
    match word {
        "auto" => Some(ToolChoice::Auto),
        "none" => Some(ToolChoice::None),
        "required" => Some(ToolChoice::Required),
        _ => None,
    }
}
