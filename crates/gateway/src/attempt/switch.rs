//! Conversations that leave the target which has their prompt cache and their signatures: when, why, and how that is reported.

use std::borrow::Cow;

use crate::route::{Candidate, Resolved, Stay, Switch};

/// What is to be reported if the conversation goes to this target, where another has `failed` it just now or none has.
pub(super) fn of(resolved: &Resolved, to: &Candidate, failed: bool) -> Option<Switch> {
    let stay = resolved.stay.as_ref()?;
    stay.switch(to, why_not_home(resolved, stay, failed))
}

/// Why a conversation is not asked where it is at home.
fn why_not_home(resolved: &Resolved, stay: &Stay, failed: bool) -> &'static str {
    match resolved.targets.iter().find(|it| stay.is_home(it)) {
        None => "it is no target of the class any more",
        Some(home) if !home.provider.is_good() => "it has failed of late",
        Some(_) if failed => "it failed",
        Some(_) => "the input hardly fits it",
    }
}

/// The route as the header `sabir-route` has it, with the reason of a switch unless the class gives it.
pub(super) fn label(
    resolved: &Resolved,
    rank: usize,
    switch: Option<&Switch>,
) -> Cow<'static, str> {
    let route = match rank {
        0 => resolved.route.label(),
        _ => format!("fallback:{}", rank + 1).into(),
    };
    match switch {
        Some(Switch { from, reason, by_class: false }) => {
            format!("{route}, left {from}: {reason}").into()
        }
        _ => route,
    }
}

/// The conversation stays where it was answered, if that is a target of its class.
pub(super) fn remember(resolved: &Resolved, target: &Candidate) {
    if let (Some(model), Some(stay)) = (&resolved.model, &resolved.stay)
        && model.has_in_class(stay.class(), target)
    {
        model.stays.went(stay, target);
    }
}
