//! Calls and their results: which belongs to which, under ids and names that the target takes.
//!
//! OpenAI and Anthropic pair by id, Gemini by name and order. Here every call of a request is given an id and every
//! result the name of its call, so that an encoder can write either.
//! Fixture `request/results/gemini-results-partly-without-ids`.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::alias::{Aliases, CallIdRule, ToolNameRule};
use crate::conversation::{Content, Message, Part, Request, Tool, ToolCall, ToolKind, ToolResult};
use crate::json::{Text, push_whole};
use crate::protocol::Protocol;
use crate::protocol::open_calls::OpenCalls;
use crate::protocol::unique_ids::are_different;
use crate::target::Target;

/// The calls of a request, ready to be written for one target; by default each as it is.
#[derive(Default)]
pub(super) struct Calls<'r> {
    names: Option<Aliases>,
    ids: Option<Aliases>,
    /// The calls without an id and the results that answer them, each with the call that its id is made from; in the
    /// order of their positions.
    made_up: Vec<(Position, Position)>,
    /// The calls that results without an id answer, in the order of the results' positions.
    answered: Vec<(Position, &'r ToolCall<'r>)>,
    /// The results that answer another call than that of their id.
    redirected: Vec<Position>,
    /// The messages in which results find the names of their calls.
    messages: &'r [Message<'r>],
    /// Where their calls with ids stand, in the order of ids and positions; found out when a result stands far from its
    /// call.
    called: OnceCell<Vec<Position>>,
}

/// So many parts before a result are looked through for its call.
const NEAR: usize = 16;

/// Why a result is written with another id than its own.
pub(super) const REDIRECTED: &str = "the id belongs to another call";

/// Where a part stands: the index of its message and its own.
pub(super) type Position = (usize, usize);

/// Takes a part out, and its message if it says nothing else.
pub(super) fn remove_part(messages: &mut Vec<Message<'_>>, (message, at): Position) {
    let mut parts = std::mem::take(&mut messages[message].parts).into_vec();
    parts.remove(at);
    match parts.is_empty() {
        true => drop(messages.remove(message)),
        false => messages[message].parts = parts.into(),
    }
}

impl<'r> Calls<'r> {
    /// Pairs the calls of `request` and finds the aliases that the target's rules make necessary.
    pub(super) fn of(request: &'r Request<'r>, protocol: Protocol, target: &Target) -> Self {
        let (names, ids) = (protocol.codec().call_rules)(target);
        let fit = Fit::of(request, names, ids);
        let mut calls = Self {
            names: (!fit.names).then(|| name_aliases(request, names)),
            ids: (!fit.ids).then(|| id_aliases(request, ids)),
            messages: &request.messages,
            ..Self::default()
        };
        if !fit.states_ids {
            calls.pair(request);
        }
        calls
    }

    /// Leaves their own names and ids, for the protocol that they came in.
    pub(super) fn unalias(&mut self) {
        (self.names, self.ids) = (None, None);
    }

    /// The name under which the target knows a tool.
    pub(super) fn name<'t>(&'t self, name: &'t Text<'_>) -> Text<'t> {
        aliased(self.names.as_ref(), name)
    }

    /// Whether the target knows a tool by another name than its own.
    pub(super) fn renames(&self, name: &Text<'_>) -> bool {
        self.names.is_some() && self.name(name) != *name
    }

    /// Whether the target may know two calls of `request` by one id, as far as can be told at a glance. Ids that are made
    /// up differ from each other, but a client may have sent one that is spelled like them.
    pub(super) fn may_share_ids(&self, request: &Request<'_>) -> bool {
        match (&self.ids, self.made_up.is_empty()) {
            (Some(_), _) => true,
            (None, true) => !are_different(&request.messages),
            (None, false) => calls(request).any(|call| call.id.is_some()),
        }
    }

    /// The id under which the target knows a call.
    pub(super) fn call_id<'t>(&'t self, at: Position, call: &'t ToolCall<'_>) -> Text<'t> {
        self.id(at, call.id.as_ref())
    }

    /// The id of the call that a result answers, as the target knows it.
    pub(super) fn result_id<'t>(&'t self, at: Position, result: &'t ToolResult<'_>) -> Text<'t> {
        self.id(at, result.call_id.as_ref())
    }

    /// The id of the call that the one at a position is or that the result there answers, if neither states it.
    pub(super) fn paired_id(&self, at: Position) -> Option<Text<'r>> {
        let answered = || find(&self.answered, at)?.id.as_ref().map(Text::reborrow);
        find(&self.made_up, at).map(made_up_id).or_else(answered)
    }

    /// The tool that a result comes from, as the target knows it; none if no call is known that it answers.
    pub(super) fn result_name<'t>(
        &'t self,
        at: Position,
        result: &'t ToolResult<'_>,
    ) -> Option<Text<'t>> {
        self.asking(at, result).or(result.name.as_ref()).map(|name| self.name(name))
    }

    /// Whether a call is known that a result answers.
    pub(super) fn is_answer(&self, at: Position, result: &ToolResult<'_>) -> bool {
        self.asking(at, result).is_some()
    }

    /// The name of the call that a result answers.
    fn asking(&self, at: Position, result: &ToolResult<'_>) -> Option<&'r Text<'r>> {
        let answered = find(&self.answered, at).map(|call| &call.name);
        answered.or_else(|| self.called(&result.call_id.as_ref()?.to_str(), at))
    }

    /// The name of the last call with an id before a position. A call that comes later is not asked, so that what is
    /// appended to a conversation changes nothing before it.
    fn called(&self, id: &str, at: Position) -> Option<&'r Text<'r>> {
        if let Some(name) = self.called_near(id, at) {
            return Some(name);
        }
        let called = self.called.get_or_init(|| called_by_id(self.messages));
        let key = |call: Position| (named_call(self.messages, call).map(|(id, _)| id), call);
        let wanted = (Some(Cow::Borrowed(id)), at);
        let behind = called.partition_point(|call| key(*call) < wanted);
        let last = called.get(behind.checked_sub(1)?)?;
        let (other, name) = named_call(self.messages, *last)?;
        (other == id).then_some(name)
    }

    /// The same for a call that stands a few parts before the position, as nearly all do.
    fn called_near(&self, id: &str, (message, part): Position) -> Option<&'r Text<'r>> {
        let (before, from) = self.messages.split_at_checked(message)?;
        let beside = from.first()?.parts.get(..part)?;
        let before = before.iter().rev().take(NEAR).flat_map(|it| it.parts.iter().rev());
        let calls = beside.iter().rev().chain(before).take(NEAR).filter_map(Part::tool_call);
        let mut named = calls.filter(|call| call.id.as_ref().is_some_and(|it| it.to_str() == id));
        named.next().map(|call| &call.name)
    }

    /// Whether the call or result at a position carried no id of its own.
    pub(super) fn is_made_up(&self, at: Position) -> bool {
        find(&self.made_up, at).is_some()
    }

    /// Whether the result at a position answers another call than that of its id.
    pub(super) fn is_redirected(&self, at: Position) -> bool {
        self.redirected.binary_search(&at).is_ok()
    }

    fn id<'t>(&'t self, at: Position, id: Option<&'t Text<'_>>) -> Text<'t> {
        if let Some(call) = find(&self.made_up, at) {
            return made_up_id(call);
        }
        let answered = || find(&self.answered, at).and_then(|call| call.id.as_ref());
        let Some(id) = id.or_else(answered) else { return Text::default() };
        aliased(self.ids.as_ref(), id)
    }

    /// Finds the calls that results answer without giving their ids.
    fn pair(&mut self, request: &'r Request<'r>) {
        let mut open_calls = OpenCalls::default();
        let ids: OnceCell<BTreeSet<&Text<'_>>> = OnceCell::new();
        let is_called = |id: &'r Text<'r>| ids.get_or_init(|| call_ids(request)).contains(id);
        for (message_index, message) in request.messages.iter().enumerate() {
            open_calls.begin(message.role);
            let mut reserved = None;
            for (part_index, part) in message.parts.iter().enumerate() {
                let at = (message_index, part_index);
                match part.content() {
                    Content::ToolCall(call) => {
                        if call.id.is_none() {
                            self.made_up.push((at, at));
                        }
                        open_calls.push(at, call);
                    }
                    Content::ToolResult(result) => {
                        if result.call_id.is_none() && reserved.is_none() {
                            reserved = Some(open_calls.reserve(&message.parts, part_index));
                        }
                        let has_own = |own: &Vec<usize>| own.binary_search(&part_index).is_ok();
                        if !reserved.as_ref().is_some_and(has_own) {
                            let found = open_calls.answer(result);
                            let id = result.call_id.as_ref().filter(|_| found.is_some());
                            self.redirected.extend(id.filter(|id| is_called(id)).map(|_| at));
                            self.answer(at, found);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// The result at a position answers that call.
    fn answer(&mut self, at: Position, found: Option<(Position, &'r ToolCall<'r>)>) {
        let Some((position, call)) = found else { return };
        if call.id.is_none() {
            self.made_up.push((at, position));
        }
        self.answered.push((at, call));
    }
}

#[inline(always)]
fn aliased<'t>(aliases: Option<&Aliases>, name: &'t Text<'_>) -> Text<'t> {
    match aliases {
        Some(aliases) => Text::plain(aliases.alias_of(&name.to_str()).to_owned()),
        None => name.reborrow(),
    }
}

/// What of a request's calls fits the target as it is.
struct Fit {
    names: bool,
    ids: bool,
    /// Whether every call and every result has an id.
    states_ids: bool,
}

impl Fit {
    fn of(request: &Request<'_>, names: ToolNameRule, ids: CallIdRule) -> Self {
        let takes_tools = request.tools.iter().all(|tool| takes_tool(names, tool));
        let mut fit = Self { names: takes_tools, ids: true, states_ids: true };
        parts(request).for_each(|content| {
            let id = match content {
                Content::ToolCall(call) => {
                    fit.names = fit.names && names.accepts(&call.name.to_str());
                    &call.id
                }
                Content::ToolResult(result) => &result.call_id,
                _ => return,
            };
            match id {
                Some(id) => fit.ids = fit.ids && ids.accepts(&id.to_str()),
                None => fit.states_ids = false,
            }
        });
        fit
    }
}

/// Whether the target takes the names of a tool, or of all in it, as they are.
fn takes_tool(rule: ToolNameRule, tool: &Tool<'_>) -> bool {
    match &tool.kind {
        ToolKind::Namespace(namespace) => namespace.tools.iter().all(|tool| takes_tool(rule, tool)),
        _ => tool.name().is_none_or(|name| rule.accepts(&name.to_str())),
    }
}

/// Where the calls that have ids stand, in the order of these.
fn called_by_id(messages: &[Message<'_>]) -> Vec<Position> {
    let positions = messages.iter().enumerate().flat_map(|(index, message)| {
        let parts = 0..message.parts.len();
        parts.map(move |part| (index, part))
    });
    let id_of = |call: &Position| named_call(messages, *call).map(|(id, _)| id);
    let mut called: Vec<Position> = positions.filter(|call| id_of(call).is_some()).collect();
    // A stable order: those of one id stay in the order of their positions.
    called.sort_by_cached_key(id_of);
    called
}

/// The id and the name of the call at a position, if there is one that has an id.
fn named_call<'r>(
    messages: &'r [Message<'r>],
    (message, part): Position,
) -> Option<(Cow<'r, str>, &'r Text<'r>)> {
    let call = messages.get(message)?.parts.get(part)?.tool_call()?;
    Some((call.id.as_ref()?.to_str(), &call.name))
}

/// The names of tools that the target knows by others; none if it knows all by their own.
pub(super) fn renamed_tools(
    request: &Request<'_>,
    protocol: Protocol,
    target: &Target,
) -> Option<Aliases> {
    let (names, ids) = (protocol.codec().call_rules)(target);
    (!Fit::of(request, names, ids).names).then(|| name_aliases(request, names))
}

fn name_aliases(request: &Request<'_>, rule: ToolNameRule) -> Aliases {
    let mut names = Vec::new();
    request.tools.iter().for_each(|tool| tool_names(tool, &mut names));
    names.extend(calls(request).map(|call| call.name.to_str()));
    Aliases::for_tool_names(rule, names.iter().map(|name| &**name))
}

fn id_aliases(request: &Request<'_>, rule: CallIdRule) -> Aliases {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let ids: Vec<Cow<'_, str>> = parts.filter_map(Part::call_id).map(Text::to_str).collect();
    Aliases::for_call_ids(rule, ids.iter().map(|id| &**id))
}

fn parts<'r>(request: &'r Request<'r>) -> impl Iterator<Item = &'r Content<'r>> {
    request.messages.iter().flat_map(|message| &message.parts).map(Part::content)
}

/// The calls of the history.
pub(super) fn calls<'r>(request: &'r Request<'r>) -> impl Iterator<Item = &'r ToolCall<'r>> {
    parts(request).filter_map(|content| match content {
        Content::ToolCall(call) => Some(&**call),
        _ => None,
    })
}

fn call_ids<'r>(request: &'r Request<'r>) -> BTreeSet<&'r Text<'r>> {
    calls(request).filter_map(|call| call.id.as_ref()).collect()
}

/// What a list in the order of positions has for one of them.
fn find<T: Copy>(list: &[(Position, T)], at: Position) -> Option<T> {
    let index = list.binary_search_by_key(&at, |(position, _)| *position).ok()?;
    Some(list[index].1)
}

fn made_up_id((message, part): Position) -> Text<'static> {
    let mut id = String::with_capacity(20);
    id.push_str("call_g_");
    push_whole(&mut id, message as u64);
    id.push('_');
    push_whole(&mut id, part as u64);
    Text::plain(id)
}

fn tool_names<'t>(tool: &'t Tool<'_>, names: &mut Vec<Cow<'t, str>>) {
    names.extend(tool.name().map(Text::to_str));
    if let ToolKind::Namespace(namespace) = &tool.kind {
        namespace.tools.iter().for_each(|tool| tool_names(tool, names));
    }
}
