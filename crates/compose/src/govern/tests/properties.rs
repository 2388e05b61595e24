//! Whatever the rules and whatever the answer: nothing that is forbidden passes, text is never delayed, and what is emitted is a
//! legal stream.

use proptest::prelude::*;
use sabir_wire::conversation::{CallForm, Content, Finish, FinishKind};
use sabir_wire::json::Text;
use sabir_wire::protocol::{Closed, NodeSemantics, Open, PartId, Start};

use super::*;
use crate::govern::{ArgumentRule, UndeclaredRule};

const NAMES: [&str; 4] = ["read", "write", "shell", "unknown"];

/// A step of a stream: a part that opens, grows or closes.
#[derive(Clone, Debug)]
enum Step {
    Text,
    Call(usize),
    Grow(usize, String),
    Close(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        Just(Step::Text),
        (0..NAMES.len()).prop_map(Step::Call),
        (0..6usize, "[a-z{}\"':, 0-9]{0,8}").prop_map(|(part, text)| Step::Grow(part, text)),
        (0..6usize).prop_map(Step::Close),
    ];
    prop::collection::vec(step, 0..40)
}

fn tables() -> impl Strategy<Value = RuleTable> {
    let name = prop::sample::select(vec!["read", "w*", "shell", "*", "unknown", "?ead"]);
    let names = || prop::option::of(prop::collection::vec(name.clone(), 0..3));
    let arguments =
        prop::sample::select(vec![ArgumentRule::Pass, ArgumentRule::Repair, ArgumentRule::Refuse]);
    let undeclared = prop::sample::select(vec![
        UndeclaredRule::Pass,
        UndeclaredRule::Text,
        UndeclaredRule::Refuse,
    ]);
    let rename = prop::option::of(Just(vec![("read".to_owned(), "cat".to_owned())]));
    (names(), names(), rename, arguments, undeclared).prop_map(
        |(allow, deny, rename, arguments, undeclared)| RuleTable {
            allow: allow.and_then(|names| globs(&names)),
            deny: deny.and_then(|names| globs(&names)),
            rename,
            arguments: Some(arguments),
            undeclared: Some(undeclared),
            ..RuleTable::default()
        },
    )
}

/// The events of the steps that make sense, as a provider sends them that knows the tools by its names.
fn events(steps: &[Step], known: &dyn Fn(&str) -> String) -> Vec<Event<'static>> {
    let semantics = NodeSemantics::default;
    let mut events = vec![Event::Start(Start::default())];
    let (mut next, mut open) = (0, Vec::new());
    for step in steps {
        match step {
            Step::Text | Step::Call(_) => {
                let opening = match step {
                    Step::Call(name) => Opening::ToolCall {
                        id: Some(Text::plain(format!("call_{next}"))),
                        name: Text::plain(known(NAMES[*name])),
                        form: CallForm::Function,
                    },
                    _ => Opening::Text,
                };
                let part = PartId(next);
                events.push(Event::Open(Open {
                    part,
                    candidate: 0,
                    opening,
                    semantics: semantics(),
                }));
                open.push(part);
                next += 1;
            }
            Step::Grow(at, text) if !open.is_empty() => {
                let delta = Delta::Text(Text::plain(text.clone()));
                events.push(Event::Delta(open[at % open.len()], delta));
            }
            Step::Close(at) if !open.is_empty() => {
                let part = open.remove(at % open.len());
                events.push(Event::Close(Closed { part, semantics: semantics() }));
            }
            Step::Grow(..) | Step::Close(_) => {}
        }
    }
    let closed = open.into_iter().map(|part| Event::Close(Closed { part, semantics: semantics() }));
    events.extend(closed);
    let kind = FinishKind::ToolCalls;
    let finish = Finish { kind, raw: None, stop_sequence: None, details: None };
    events.push(Event::Finish { candidate: 0, place: NodeSemantics::default().place(), finish });
    events
}

/// What a governor of these rules makes of a stream, event by event.
fn governed(
    table: &RuleTable,
    steps: &[Step],
) -> (Vec<(Event<'static>, Vec<Event<'static>>)>, Arc<Rules>) {
    let rules = rules(table);
    let tools: Vec<Value> =
        NAMES[..3].iter().map(|name| function(name, &json!({"type": "object"}))).collect();
    let body = request(&json!(tools)).to_string();
    let mut decoded = Protocol::OpenaiChat.decode_request_text(&body).unwrap();
    let plan = plan(decoded.request(), &rules).unwrap();
    let governed = plan.apply(decoded.edit(), &rules, POINTERS);
    let mut context = AnswerContext::by(&decoded, Protocol::OpenaiChat, &Target::default());
    let names = (&mut context, governed.renamed.clone());
    let offer = Offer::new(decoded.request(), Protocol::OpenaiChat, names, &rules);
    let mut governor = Governor::new(Arc::new(offer));
    let known = |name: &str| {
        let seen = governed.renamed.seen(name, &rules);
        seen.map_or(name.to_owned(), |seen| seen.to_str().into_owned())
    };
    let stepped = events(steps, &known).into_iter().map(|event| {
        let mut emitted = Vec::new();
        governor.event(event.clone(), &mut |event| emitted.push(event.into_owned()));
        (event, emitted)
    });
    (stepped.collect(), rules)
}

fn text_of(event: &Event<'_>, texts: &[u32]) -> Option<String> {
    match event {
        Event::Delta(part, Delta::Text(text)) if texts.contains(&part.0) => {
            Some(text.to_str().into_owned())
        }
        _ => None,
    }
}

proptest! {
    #[test]
    fn no_forbidden_call_passes_and_every_stream_is_legal(table in tables(), steps in steps()) {
        let (stepped, rules) = governed(&table, &steps);
        let mut order = Order::default();
        for event in stepped.iter().flat_map(|(_, emitted)| emitted) {
            prop_assert!(order.step(event).is_ok(), "{event:?}");
            let Event::Open(open) = event else { continue };
            let Opening::ToolCall { name, id, .. } = &open.opening else {
                prop_assert!(!matches!(open.opening, Opening::Whole(Content::ToolCall(_))));
                continue;
            };
            let name = name.to_str();
            prop_assert!(NAMES.contains(&&*name), "a name that is neither's: {name}");
            prop_assert!(rules.allows(&name), "{name}");
            let is_offered = NAMES[..3].contains(&&*name);
            prop_assert!(is_offered || rules.undeclared == UndeclaredRule::Pass);
            prop_assert!(id.as_ref().unwrap().to_str().starts_with("call_"));
        }
    }

    #[test]
    fn text_is_emitted_with_the_event_that_brought_it(table in tables(), steps in steps()) {
        let (stepped, _) = governed(&table, &steps);
        let mut texts = Vec::new();
        for (event, emitted) in &stepped {
            if emitted.iter().any(|event| matches!(event, Event::Fault(_))) {
                break;
            }
            if let Event::Open(open) = event && matches!(open.opening, Opening::Text) {
                texts.push(open.part.0);
                prop_assert_eq!(emitted.len(), 1);
            }
            if let Some(text) = text_of(event, &texts) {
                let Some(Event::Delta(_, Delta::Text(seen))) = emitted.first() else {
                    panic!("{event:?} brought {emitted:?}");
                };
                prop_assert_eq!(&*seen.to_str(), text.as_str());
            }
        }
    }
}
