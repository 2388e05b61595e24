//! What holds for any history: nothing is orphaned or empty, order stays, and no change is silent.

use proptest::prelude::*;
use sabir_compose::history::History;
use sabir_compose::{
    Blank, Builder, Built, Change, Misplaced, Origin, Policy, Stored, Summary, Turn, Unanswered,
};
use sabir_wire::Protocol;
use sabir_wire::conversation::{
    Arguments, CallForm, Content, Message, Part, ResultOutput, Role, ToolCall, ToolResult,
};
use sabir_wire::json::Text;

use crate::simulator;

/// A part, before it is given words of its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    Blank,
    Words,
    Call(u8),
    Result(u8),
    /// A call without an id, as Gemini has them.
    Unnumbered,
    /// A result that has a name, and an id of its own or none.
    Named(Option<u8>),
}

pub(super) type Plan = Vec<(Role, Vec<Piece>)>;

pub(super) fn history() -> impl Strategy<Value = Plan> {
    let text = prop_oneof![1 => Just(Piece::Blank), 4 => Just(Piece::Words)];
    let assistant_parts = prop_oneof![
        1 => Just(Piece::Blank),
        3 => Just(Piece::Words),
        4 => (0..5_u8).prop_map(Piece::Call),
        1 => Just(Piece::Unnumbered),
    ];
    let user_parts = prop_oneof![
        2 => Just(Piece::Words),
        4 => (0..6_u8).prop_map(Piece::Result),
        1 => prop::option::of(4..8_u8).prop_map(Piece::Named),
    ];
    let message = prop_oneof![
        1 => text.clone().prop_map(|piece| (Role::System, vec![piece])),
        3 => text.prop_map(|piece| (Role::User, vec![piece])),
        2 => prop::collection::vec(user_parts, 1..4).prop_map(|pieces| (Role::User, pieces)),
        6 => prop::collection::vec(assistant_parts, 0..4).prop_map(|pieces| (Role::Assistant, pieces)),
        4 => (0..6_u8).prop_map(|id| (Role::Tool, vec![Piece::Result(id)])),
    ];
    prop::collection::vec(message, 0..14)
}

const IMAGE: &str =
    r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aW1n"}}"#;

/// A message in one of the shapes in which applications keep them, or in none.
fn block() -> impl Strategy<Value = String> {
    let role = prop::sample::select(vec!["system", "user", "assistant", "tool"]);
    let id = 0..3_u8;
    let piece = prop_oneof![
        Just(r#""words""#.to_owned()),
        Just(r#"{"type":"text","text":" "}"#.to_owned()),
        Just(r#"{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}"#.to_owned()),
        Just(r#"{"type":"unheard_of","x":[null]}"#.to_owned()),
        Just("null".to_owned()),
        Just("7".to_owned()),
        id.clone().prop_map(|id| format!(r#"{{"type":"tool_use","id":"{id}"}}"#)),
        id.clone().prop_map(|id| format!(r#"{{"tool_use_id":"{id}","content":[{{"text":"t"}}]}}"#)),
        Just(r#"{"type":"tool_use","name":"f"}"#.to_owned()),
        Just(r#"{"type":"tool_result","content":"t"}"#.to_owned()),
        id.clone().prop_map(|id| format!(
            r#"{{"type":"tool_result","tool_use_id":"{id}","content":[{IMAGE}]}}"#
        )),
    ];
    let pieces = prop::collection::vec(piece.clone(), 0..4);
    let content = prop_oneof![piece, pieces.prop_map(|pieces| format!("[{}]", pieces.join(",")))];
    let beside = prop_oneof![
        3 => Just(String::new()),
        1 => id.clone().prop_map(|id| format!(r#","toolCalls":[{{"id":"{id}","name":"f","input":{{}}}}]"#)),
        1 => (id.clone(), id.clone()).prop_map(|(one, two)| format!(
            r#","tool_calls":[{{"id":"{one}","name":"f"}},{{"id":"{two}","name":"f"}}]"#
        )),
        1 => id.prop_map(|id| format!(r#","tool_call_id":"{id}""#)),
    ];
    (role, content, beside, any::<bool>()).prop_map(|(role, content, beside, is_entity)| {
        let body = format!(r#"{{"role":"{role}","content":{content}{beside}}}"#);
        if is_entity { format!(r#"{{"id":1,"body":{body}}}"#) } else { body }
    })
}

fn policies() -> impl Strategy<Value = Policy> {
    let unanswered = prop_oneof![Just(Unanswered::Answer), Just(Unanswered::Drop)];
    let misplaced = prop_oneof![Just(Misplaced::Move), Just(Misplaced::Drop)];
    let base = prop_oneof![Just(Policy::default()), Just(Policy::towards(Protocol::Gemini))];
    (base, unanswered, misplaced).prop_map(|(base, unanswered, misplaced)| Policy {
        unanswered,
        misplaced,
        ..base
    })
}

pub(super) fn stored(plan: &Plan) -> Vec<Stored<'static>> {
    let message = |(index, (role, pieces)): (usize, &(Role, Vec<Piece>))| {
        let parts: Vec<Part<'_>> =
            pieces.iter().enumerate().map(|(at, piece)| part(*piece, index, at)).collect();
        Stored { id: Some(index.to_string().into()), message: Message::new(*role, parts) }
    };
    plan.iter().enumerate().map(message).collect()
}

fn part(piece: Piece, message: usize, at: usize) -> Part<'static> {
    let words = format!("w{message}.{at}");
    let id = |id: u8| Some(format!("call_{id}").into());
    Part::new(match piece {
        Piece::Blank => Content::Text(" ".into()),
        Piece::Words => Content::Text(words.into()),
        Piece::Call(number) => call(id(number), &words),
        Piece::Unnumbered => call(None, &words),
        Piece::Result(number) => result(id(number), None, words),
        Piece::Named(number) => result(number.and_then(id), Some("look".into()), words),
    })
}

fn call(id: Option<Text<'static>>, words: &str) -> Content<'static> {
    Content::ToolCall(Box::new(ToolCall {
        id,
        name: "look".into(),
        arguments: Arguments::Text(format!(r#"{{"at":"{words}"}}"#).into()),
        form: CallForm::Function,
    }))
}

fn result(
    call_id: Option<Text<'static>>,
    name: Option<Text<'static>>,
    words: String,
) -> Content<'static> {
    Content::ToolResult(Box::new(ToolResult {
        call_id,
        name,
        output: ResultOutput::Parts(Part::text(words).into()),
        is_error: None,
        form: CallForm::Function,
    }))
}

fn build(plan: &Plan, policy: Policy) -> Option<Built<'static>> {
    Builder::default().set_messages(stored(plan)).set_policy(policy).build().ok()
}

/// A part in words, the same for the same part.
pub(super) fn word(part: &Part<'_>) -> String {
    match part.content() {
        Content::Text(text) => format!("text {}", text.to_str()),
        Content::ToolCall(call) => {
            let Arguments::Text(arguments) = &call.arguments else { unreachable!() };
            format!("call {} {}", id_of(call.id.as_ref()), arguments.to_str())
        }
        Content::ToolResult(result) => {
            let id = id_of(result.call_id.as_ref());
            let texts: String = result.output.parts().iter().map(word).collect();
            format!("result {id} {texts}")
        }
        _ => unreachable!("no such part is generated"),
    }
}

fn id_of(id: Option<&Text<'_>>) -> String {
    id.map_or("none".to_owned(), |id| id.to_str().into_owned())
}

fn words(message: &Message<'_>) -> Vec<String> {
    message.parts.iter().map(word).collect()
}

/// Whether each call has one result, in the messages behind its run and before anything else.
fn assert_paired(turns: &[Turn<'_>]) {
    let mut index = 0;
    while index < turns.len() {
        let is_run = |turn: &&Turn<'_>| turn.message.role == Role::Assistant;
        let run = turns[index..].iter().take_while(is_run).count();
        let parts = |turns: &[Turn<'_>]| -> Vec<String> {
            turns.iter().flat_map(|turn| words(&turn.message)).collect()
        };
        let end = index + run;
        let next = turns[end..].iter().take_while(|turn| !is_run(turn)).count();
        let id = |word: &String| word.split(' ').nth(1).unwrap().to_owned();
        let assistant_parts = parts(&turns[index..end]);
        let user_parts = parts(&turns[end..end + next]);
        let calls: Vec<String> =
            assistant_parts.iter().filter(|word| word.starts_with("call")).map(id).collect();
        let leading = user_parts.iter().take_while(|word| word.starts_with("result"));
        let mut results: Vec<String> = leading.map(id).collect();
        assert!(
            !user_parts[results.len()..].iter().any(|word| word.starts_with("result")),
            "{user_parts:?}"
        );
        assert!(
            !assistant_parts.iter().any(|word| word.starts_with("result")),
            "{assistant_parts:?}"
        );
        assert_eq!(calls.len(), results.len(), "{assistant_parts:?} {user_parts:?}");
        // A call with an id is answered by that id or by name alone; the others take what is left.
        for id in calls.iter().filter(|id| *id != "none") {
            let own = results.iter().position(|it| it == id);
            let answer = own.or_else(|| results.iter().position(|it| it == "none"));
            results.remove(answer.expect("an answer"));
        }
        index = end + next;
    }
}

/// The indices of input messages that the trace names.
fn traced(built: &Built<'_>) -> Vec<usize> {
    built.trace.changes().iter().filter_map(index_of).collect()
}

fn index_of(change: &Change) -> Option<usize> {
    change.pointer.strip_prefix("/messages/")?.parse().ok()
}

/// The index of the first message that may have been mended otherwise in one of two histories: only one trace names it,
/// or each in other words. A result that moved may have gone to another call, which no trace tells.
fn first_difference(one: &Built<'_>, other: &Built<'_>) -> Option<usize> {
    let count = |built: &Built<'_>, change: &Change| {
        built.trace.changes().iter().filter(|it| *it == change).count()
    };
    let is_apart = |change: &&Change| count(one, change) != count(other, change);
    let changes = one.trace.changes().iter().chain(other.trace.changes());
    let apart = changes.filter(|change| is_apart(change) || change.what.contains("moved"));
    apart.map(|change| index_of(change).expect("no prompts and no summary")).min()
}

fn cases() -> ProptestConfig {
    let cases = std::env::var("SABIR_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(256);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn never_an_orphan_and_never_an_empty(plan in history(), policy in policies()) {
        let Some(built) = build(&plan, policy) else { return Ok(()) };
        assert_paired(&built.turns);
        for turn in &built.turns {
            let may_be_blank = match turn.message.role {
                Role::Assistant => false,
                Role::User => policy.blank == Blank::Assistant,
                Role::System | Role::Developer | Role::Tool => true,
            };
            prop_assert!(may_be_blank || !turn.message.is_blank());
        }
    }

    #[test]
    fn no_history_panics(blocks in prop::collection::vec(block(), 0..6), cut in 0..2_000_usize) {
        let text = format!(r#"{{"messages":[{}],"systemPrompts":["p"],"summary":{{"messageIds":[1],"startMessageId":1,"summary":"s"}}}}"#, blocks.join(","));
        let cut = text.get(..cut).unwrap_or(&text);
        for text in [text.as_str(), cut] {
            let Ok(history) = History::parse(text) else { continue };
            let Ok(built) = history.builder().build() else { continue };
            let json = history.to_json(&built);
            prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
            let left_out = built.trace.changes().iter().any(|change| change.what.contains("left out"));
            let images = |text: &str| text.matches("aW1n").count();
            prop_assert!(left_out || images(&json) == images(text), "{json} of {text}");
            let again = History::parse(&json).unwrap();
            let again = again.to_json(&again.builder().build().unwrap());
            prop_assert!(again.ends_with(r#""trace":[]}"#), "{json} {again}");
            for protocol in Protocol::ALL {
                let built = history.builder().build().unwrap();
                sabir_compose::history::encode(built, protocol).unwrap();
            }
        }
    }

    #[test]
    fn order_is_kept(plan in history(), policy in policies()) {
        let Some(built) = build(&plan, policy) else { return Ok(()) };
        // Results may move; all else stands in the order in which it was given.
        let assistant_parts = |messages: Vec<&Message<'_>>| -> Vec<String> {
            let words = messages.into_iter().flat_map(words);
            words.filter(|word| word.contains('w') && !word.starts_with("result")).collect()
        };
        let given = stored(&plan);
        let given = assistant_parts(given.iter().map(|stored| &stored.message).collect());
        let placed = assistant_parts(built.turns.iter().filter(|it| it.origin != Origin::Made).map(|it| &it.message).collect());
        let mut rest = given.iter();
        for word in &placed {
            prop_assert!(rest.any(|other| other == word), "{placed:?} of {given:?}");
        }
    }

    #[test]
    fn building_again_changes_nothing(plan in history(), policy in policies()) {
        let Some(built) = build(&plan, policy) else { return Ok(()) };
        let before: Vec<Vec<String>> = built.turns.iter().map(|it| words(&it.message)).collect();
        let again = built.turns.into_iter().map(|turn| Stored::from(turn.message));
        let again = Builder::default().set_messages(again).set_policy(policy).build().unwrap();
        let after: Vec<Vec<String>> = again.turns.iter().map(|it| words(&it.message)).collect();
        prop_assert_eq!(before, after);
        prop_assert!(again.trace.is_empty());
    }

    #[test]
    fn every_change_is_traced(plan in history(), policy in policies()) {
        let Some(built) = build(&plan, policy) else { return Ok(()) };
        let traced = traced(&built);
        let given = stored(&plan);
        let there: Vec<String> = built.turns.iter().flat_map(|turn| words(&turn.message)).collect();
        let mut brought = 0;
        for (index, stored) in given.iter().enumerate() {
            let text = words(&stored.message);
            brought += text.iter().filter(|word| there.contains(word) && **word != "text  ").count();
            let is_whole = built.turns.iter().any(|turn| {
                let is_it = matches!(turn.origin, Origin::Given(at) | Origin::Edited(at) if at == index);
                is_it && text.iter().all(|word| words(&turn.message).contains(word))
            });
            prop_assert!(is_whole || traced.contains(&index), "{index} of {plan:?}");
        }
        // What nobody said has an entry each.
        let added = there.iter().filter(|word| **word != "text  ").count() - brought;
        let is_addition = |change: &&Change| change.what.contains("added") || change.what.contains("put ");
        prop_assert_eq!(added, built.trace.changes().iter().filter(is_addition).count());
        // What stands elsewhere than it stood is reported.
        let mut last = 0;
        for turn in &built.turns {
            if let Origin::Given(index) | Origin::Edited(index) = turn.origin {
                let leapt = built.turns.iter().any(|other| {
                    matches!(other.origin, Origin::Given(at) if at > index && traced.contains(&at))
                });
                prop_assert!(index >= last || traced.contains(&index) || leapt, "{plan:?}");
                last = last.max(index);
            }
        }
    }

    #[test]
    fn a_longer_history_leaves_the_shorter_one_alone(plan in history(), policy in policies(), cut in 0..14_usize) {
        let shorter: Plan = plan.iter().take(cut).cloned().collect();
        let (Some(short), Some(long)) = (build(&shorter, policy), build(&plan, policy)) else { return Ok(()) };
        let is_same = |(one, two): &(&Turn<'_>, &Turn<'_>)| {
            one.message.role == two.message.role && words(&one.message) == words(&two.message)
        };
        let same = short.turns.iter().zip(&long.turns).take_while(is_same).count();
        // A run that goes on takes with it the results that were put behind it.
        let goes_on = long.turns.get(same).is_some_and(|turn| turn.message.role == Role::Assistant);
        let is_result = |turn: &Turn<'_>| words(&turn.message).iter().all(|word| word.starts_with("result"));
        if short.turns[same..].iter().all(|turn| goes_on && is_result(turn)) {
            return Ok(());
        }
        // What is mended may be mended otherwise once more is known, and the traces say so; what stands before may not change.
        let border = first_difference(&short, &long);
        for turn in &short.turns[same..] {
            let may_change = border.is_some_and(|border| turn.origin.index().is_none_or(|at| at >= border));
            prop_assert!(may_change, "{turn:?} stands before {border:?}");
        }
    }

    #[test]
    fn a_summary_keeps_what_it_does_not_list(plan in history(), start in 0..14_usize, policy in policies()) {
        let ids: Vec<_> = (start..start + 3).map(|id| id.to_string().into()).collect();
        let summary = Summary { message_ids: ids, start_message_id: start.to_string().into(), summary: "s".into() };
        let builder = Builder::default().set_messages(stored(&plan)).set_policy(policy);
        let Ok(built) = builder.set_compression_summary(Some(summary)).build() else { return Ok(()) };
        assert_paired(&built.turns);
        if start < plan.len() {
            let kept = |turn: &Turn<'_>| match turn.origin {
                Origin::Given(index) | Origin::Edited(index) => index >= start + 3,
                Origin::Made => true,
            };
            prop_assert!(built.turns.iter().all(kept));
        }
    }

    #[test]
    fn all_four_providers_take_what_is_built(plan in history()) {
        for protocol in Protocol::ALL {
            let Some(built) = build(&plan, Policy::towards(protocol)) else { continue };
            let speaks = |turn: &Turn<'_>| !turn.message.role.instructs();
            if built.turns.iter().any(speaks) {
                simulator::takes(protocol, &built.into_messages());
            }
        }
    }
}
