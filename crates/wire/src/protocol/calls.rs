//! Calls and their results: which belongs to which, under ids and names that the target takes.
//!
//! OpenAI and Anthropic pair by id, Gemini by name and order. Here every call of a request is given an id and every
//! result the name of its call, so that an encoder can write either.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::alias::Aliases;
use crate::alias::CallIdRule;
use crate::alias::ToolNameRule;
use crate::conversation::Content;
use crate::conversation::Request;
use crate::conversation::Tool;
use crate::conversation::ToolCall;
use crate::conversation::ToolKind;
use crate::conversation::ToolResult;
use crate::json::Text;

/// The calls of a request, ready to be written for one target.
pub(in crate::protocol) struct Calls<'r> {
    names: Option<Aliases>,
    ids: Option<Aliases>,
    /// Ids made up for calls without one, and taken over by their results, by position in the request.
    made_up: HashMap<Position, String>,
    /// The name of each call by its id, for results that do not repeat it.
    called: HashMap<Cow<'r, str>, &'r Text<'r>>,
    /// The names of calls for results that carry no id, by position.
    answered: HashMap<Position, &'r Text<'r>>,
}

/// Where a part stands: the index of its message and its own.
pub(in crate::protocol) type Position = (usize, usize);

impl<'r> Calls<'r> {
    /// Pairs the calls of `request` and finds the aliases that the target's rules make necessary.
    pub(in crate::protocol) fn of(
        request: &'r Request<'r>,
        names: ToolNameRule,
        ids: CallIdRule,
    ) -> Self {
        let mut calls = Self {
            names: None,
            ids: None,
            made_up: HashMap::new(),
            called: HashMap::new(),
            answered: HashMap::new(),
        };
        calls.pair(request);
        calls.alias_names(request, names);
        calls.alias_ids(request, ids);
        calls
    }

    /// The name under which the target knows a tool.
    pub(in crate::protocol) fn name<'t>(&'t self, name: &'t Text<'_>) -> Text<'t> {
        match &self.names {
            Some(aliases) => Text::plain(aliases.alias_of(&name.to_str()).to_owned()),
            None => name.reborrow(),
        }
    }

    /// The id under which the target knows a call.
    pub(in crate::protocol) fn call_id<'t>(
        &'t self,
        at: Position,
        call: &'t ToolCall<'_>,
    ) -> Text<'t> {
        self.id(at, call.id.as_ref())
    }

    /// The id of the call that a result answers, as the target knows it.
    pub(in crate::protocol) fn result_id<'t>(
        &'t self,
        at: Position,
        result: &'t ToolResult<'_>,
    ) -> Text<'t> {
        self.id(at, result.call_id.as_ref())
    }

    /// The tool that a result comes from, as the target knows it; none if no call is known that it answers.
    pub(in crate::protocol) fn result_name<'t>(
        &'t self,
        at: Position,
        result: &'t ToolResult<'_>,
    ) -> Option<Text<'t>> {
        let called = match &result.call_id {
            Some(id) => self.called.get(&*id.to_str()).copied(),
            None => self.answered.get(&at).copied(),
        };
        called.or(result.name.as_ref()).map(|name| self.name(name))
    }

    /// Whether the call or result at a position carried no id of its own.
    pub(in crate::protocol) fn is_made_up(&self, at: Position) -> bool {
        self.made_up.contains_key(&at)
    }

    /// The names that the target knows tools by and the client's own for them, where they differ.
    pub(in crate::protocol) fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().flat_map(Aliases::renamed)
    }

    fn id<'t>(&'t self, at: Position, id: Option<&'t Text<'_>>) -> Text<'t> {
        let Some(id) = id else {
            return Text::plain(self.made_up.get(&at).map_or("", String::as_str));
        };
        match &self.ids {
            Some(aliases) => Text::plain(aliases.alias_of(&id.to_str()).to_owned()),
            None => id.reborrow(),
        }
    }

    fn pair(&mut self, request: &'r Request<'r>) {
        // The calls without an id that wait for their results, in order.
        let mut waiting: Vec<(Position, &'r Text<'r>)> = Vec::new();
        for (message_index, message) in request.messages.iter().enumerate() {
            for (part_index, part) in message.parts.iter().enumerate() {
                let at = (message_index, part_index);
                match part.content() {
                    Content::ToolCall(call) => match &call.id {
                        Some(id) => {
                            self.called.insert(id.to_str(), &call.name);
                        }
                        None => {
                            self.made_up.insert(at, format!("call_g_{message_index}_{part_index}"));
                            waiting.push((at, &call.name));
                        }
                    },
                    Content::ToolResult(result) if result.call_id.is_none() => {
                        self.answer(at, result, &mut waiting);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Gives a result without an id to the first waiting call of its name.
    fn answer(
        &mut self,
        at: Position,
        result: &'r ToolResult<'r>,
        waiting: &mut Vec<(Position, &'r Text<'r>)>,
    ) {
        let same_name = |name: &Text<'_>| result.name.as_ref().is_none_or(|own| own == name);
        let Some(index) = waiting.iter().position(|(_, name)| same_name(name)) else { return };
        let (call, name) = waiting.remove(index);
        if let Some(id) = self.made_up.get(&call).cloned() {
            self.made_up.insert(at, id);
        }
        self.answered.insert(at, name);
    }

    fn alias_names(&mut self, request: &Request<'_>, rule: ToolNameRule) {
        let mut names = Vec::new();
        request.tools.iter().for_each(|tool| tool_names(tool, &mut names));
        names.extend(self.called.values().map(|name| name.to_str()));
        names.extend(self.answered.values().map(|name| name.to_str()));
        if names.iter().any(|name| !rule.accepts(name)) {
            self.names = Some(Aliases::for_tool_names(rule, names.iter().map(|name| &**name)));
        }
    }

    fn alias_ids(&mut self, request: &Request<'_>, rule: CallIdRule) {
        let ids: Vec<Cow<'_, str>> = request
            .messages
            .iter()
            .flat_map(|message| &message.parts)
            .filter_map(|part| match part.content() {
                Content::ToolCall(call) => call.id.as_ref(),
                Content::ToolResult(result) => result.call_id.as_ref(),
                _ => None,
            })
            .map(Text::to_str)
            .collect();
        if ids.iter().any(|id| !rule.accepts(id)) {
            self.ids = Some(Aliases::for_call_ids(rule, ids.iter().map(|id| &**id)));
        }
    }
}

fn tool_names<'t>(tool: &'t Tool<'_>, names: &mut Vec<Cow<'t, str>>) {
    match &tool.kind {
        ToolKind::Function(function) => names.push(function.name.to_str()),
        ToolKind::Custom(custom) => names.push(custom.name.to_str()),
        ToolKind::Hosted(_) => {}
        ToolKind::Namespace(namespace) => {
            namespace.tools.iter().for_each(|tool| tool_names(tool, names));
        }
    }
}
