//! What holds for the compaction of any conversation: calls stay with their results, and the user's newest words stay.

use proptest::prelude::*;
use sabir_compose::SummaryRole;
use sabir_compose::compact::{Keep, compacted, plan};
use sabir_wire::conversation::{Content, Message, Role};
use sabir_wire::json::Text;

use crate::properties::{history, stored, word};

const SUMMARY: &str = "what came before";

fn keep() -> impl Strategy<Value = Keep> {
    (0..4_usize, 0..400_usize).prop_map(|(turns, bytes_max)| Keep { turns, bytes_max })
}

/// For each result with an id whether the newest call of that id before it stands in the same list.
fn answered(messages: &[Message<'_>]) -> Vec<(String, bool)> {
    let mut calls: Vec<String> = Vec::new();
    let mut answered = Vec::new();
    let id = |text: &Option<Text<'_>>| text.as_ref().map(|text| text.to_str().into_owned());
    for part in messages.iter().flat_map(|message| &message.parts) {
        match part.content() {
            Content::ToolCall(call) => calls.extend(id(&call.id)),
            Content::ToolResult(result) => {
                answered.extend(id(&result.call_id).map(|id| (id.clone(), calls.contains(&id))));
            }
            _ => {}
        }
    }
    answered
}

fn words(messages: &[Message<'_>]) -> Vec<(Role, String)> {
    let text = |message: &Message<'_>| (message.role, message.parts.iter().map(word).collect());
    messages.iter().map(text).collect()
}

proptest! {
    #[test]
    fn what_is_kept_is_whole(history in history(), keep in keep()) {
        let messages: Vec<Message<'_>> = stored(&history).into_iter().map(|it| it.message).collect();
        let Some(plan) = plan(&messages, keep) else { return Ok(()) };
        prop_assert_eq!(&sabir_compose::compact::plan(&messages, keep), &Some(plan.clone()));
        let after = compacted(messages.clone(), &plan, SUMMARY.to_owned(), SummaryRole::User);
        let (covered, carried) = (plan.covered(), plan.carried());
        prop_assert_eq!(after.len(), messages.len() - covered.len() + 1 + usize::from(carried.is_some()));
        // What leads and what follows is as it was.
        prop_assert_eq!(words(&after[..covered.start]), words(&messages[..covered.start]));
        let kept = messages.len() - covered.end;
        prop_assert_eq!(words(&after[after.len() - kept..]), words(&messages[covered.end..]));
        prop_assert!(kept > 0);
        // Every result that had its call has it still.
        let before = answered(&messages);
        let behind = answered(&after[after.len() - kept..]);
        prop_assert_eq!(&before[before.len() - behind.len()..], &behind[..]);
        // The newest words of the user are there, wherever they stood.
        let is_word = |part: &sabir_wire::conversation::Part<'_>| matches!(part.content(), Content::Text(_)) && !part.is_blank();
        let is_turn = |message: &&Message<'_>| message.role == Role::User
            && message.parts.iter().any(is_word)
            && !message.parts.iter().any(|part| matches!(part.content(), Content::ToolResult(_)));
        if let Some(newest) = messages.iter().rev().find(is_turn) {
            prop_assert!(words(&after).contains(&words(std::slice::from_ref(newest))[0]));
        }
    }
}
