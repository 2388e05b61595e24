//! Reading a history: entities, messages, system prompts and the summary.

use std::borrow::Cow;

use sabir_wire::Result;
use sabir_wire::conversation::{
    CallForm, Content, Message, Part, Parts, ResultOutput, Role, ToolResult,
};
use sabir_wire::json::{Kind, Reader, Text};

use super::{Given, History, HistoryError, block, call};
use crate::builder::{Stored, Summary};

const ROLES: [(&str, Role); 5] = [
    ("system", Role::System),
    ("developer", Role::Developer),
    ("user", Role::User),
    ("assistant", Role::Assistant),
    ("tool", Role::Tool),
];

pub(super) fn history(json: &str) -> Result<History<'_>, HistoryError> {
    let mut entities = None;
    let mut history = History::default();
    let mut reader = Reader::new(json);
    reader.object(|key, reader| {
        match &*key {
            "messages" => entities = Some(list(reader)?),
            "systemPrompts" => history.system_prompts = prompts(reader)?,
            "summary" => history.summary = reader.or_null(summary)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    reader.finish()?;
    let Some(entities) = entities else {
        return Err(HistoryError::new("expected `messages`", String::new()));
    };
    for (index, (id, given)) in entities.into_iter().enumerate() {
        let message = message(&given, index)?;
        history.messages.push(Stored { id, message });
        history.given.push(given);
    }
    Ok(history)
}

type Entity<'a> = (Option<Cow<'a, str>>, Given<'a>);

fn list<'a>(reader: &mut Reader<'a>) -> Result<Vec<Entity<'a>>> {
    let mut entities = Vec::new();
    reader.array(|_, reader| {
        entities.push(entity(reader)?);
        Ok(())
    })?;
    Ok(entities)
}

fn entity<'a>(reader: &mut Reader<'a>) -> Result<Entity<'a>> {
    let (mut id, mut body, mut given) = (None, None, Given::default());
    reader.object(|key, reader| match &*key {
        "id" => {
            id = self::id(reader)?;
            Ok(())
        }
        "body" if reader.kind()? == Kind::Object => {
            let mut inner = Given { below: "/body", ..Given::default() };
            reader.object(|key, reader| field(&mut inner, &key, reader))?;
            body = Some(inner);
            Ok(())
        }
        key => field(&mut given, key, reader),
    })?;
    Ok((id, body.unwrap_or(given)))
}

fn field<'a>(given: &mut Given<'a>, key: &str, reader: &mut Reader<'a>) -> Result<()> {
    match key {
        "role" => given.role = reader.string()?,
        "content" => given.content = Some(reader.raw()?),
        "toolCalls" => read_calls(given, "toolCalls", reader)?,
        "tool_calls" => read_calls(given, "tool_calls", reader)?,
        "toolCallId" | "tool_call_id" => {
            let id = reader.or_null(Reader::string)?;
            given.tool_call_id = id.or(given.tool_call_id.take());
        }
        "name" => given.name = reader.or_null(Reader::string)?,
        _ => reader.skip()?,
    }
    Ok(())
}

fn read_calls<'a>(given: &mut Given<'a>, key: &'static str, reader: &mut Reader<'a>) -> Result<()> {
    let Some(calls) = reader.or_null(|it| it.raw())?.filter(|it| it.compact() != "[]") else {
        return Ok(());
    };
    match &given.tool_calls {
        Some(first) if first.compact() == calls.compact() => {}
        Some(_) => given.second_calls_key = Some(key),
        None => {
            given.tool_calls = Some(calls);
            given.calls_key = key;
        }
    }
    Ok(())
}

/// An id is a number or a string; a summary knows it by what it says.
fn id<'a>(reader: &mut Reader<'a>) -> Result<Option<Cow<'a, str>>> {
    let id = match reader.kind()? {
        Kind::Null => reader.null().map(|()| None)?,
        Kind::Number => Some(reader.raw()?.as_str().to_owned().into()),
        _ => Some(reader.string()?.into_str()),
    };
    Ok(id.filter(|id| !id.is_empty()))
}

fn prompts(reader: &mut Reader<'_>) -> Result<Vec<String>> {
    let mut prompts = Vec::new();
    if reader.kind()? == Kind::Null {
        return reader.null().map(|()| prompts);
    }
    reader.array(|_, reader| {
        prompts.push(reader.string()?.into_str().into_owned());
        Ok(())
    })?;
    Ok(prompts)
}

fn summary<'a>(reader: &mut Reader<'a>) -> Result<Summary<'a>> {
    let (mut message_ids, mut start, mut text) = (Vec::new(), None, Cow::Borrowed(""));
    reader.object(|key, reader| {
        match &*key {
            "messageIds" => reader.array(|_, reader| {
                message_ids.push(id(reader)?.unwrap_or_default());
                Ok(())
            })?,
            "startMessageId" => start = id(reader)?,
            "summary" => text = reader.string()?.into_str(),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(Summary { message_ids, start_message_id: start.unwrap_or_default(), summary: text })
}

fn message<'a>(given: &Given<'a>, index: usize) -> Result<Message<'a>, HistoryError> {
    let pointer = |field: &str| format!("/messages/{index}{}/{field}", given.below);
    let Some(role) = given.role() else {
        let found = if given.role.is_empty() { "none" } else { "another word" };
        let words = format!("expected system, developer, user, assistant or tool, found {found}");
        return Err(HistoryError::new(words, pointer("role")));
    };
    if let Some(key) = given.second_calls_key {
        return Err(HistoryError::new("expected one list of calls, found two", pointer(key)));
    }
    let below = |field: &str, error: &sabir_wire::Error| {
        HistoryError::new(error.message(), pointer(field) + &block::place(error))
    };
    let parts = parts(given, role).map_err(|error| below("content", &error))?;
    let mut message = Message::new(role, parts);
    // The name of a tool is in its call.
    if role != Role::Tool {
        message.name.clone_from(&given.name);
    }
    if let Some(calls) = &given.tool_calls {
        call::add(calls, &mut message.parts).map_err(|error| below(given.calls_key, &error))?;
    }
    Ok(message)
}

fn parts<'a>(given: &Given<'a>, role: Role) -> Result<Vec<Part<'a>>> {
    let parts = match &given.content {
        Some(content) => block::read_all(content, role)?,
        None => Vec::new(),
    };
    match role {
        Role::Tool => Ok(results(parts, given.tool_call_id.as_ref())),
        Role::Assistant if given.has_calls() => {
            Ok(parts.into_iter().filter(|part| !part.is_blank()).collect())
        }
        _ => Ok(parts),
    }
}

/// What a tool says belongs to a result: that of the message, or the first among its blocks.
fn results<'a>(parts: Vec<Part<'a>>, id: Option<&Text<'a>>) -> Vec<Part<'a>> {
    let (mut results, mut rest) = (Vec::new(), Vec::new());
    for part in parts {
        match part.into_content() {
            Content::ToolResult(result) => results.push(*result),
            content => rest.push(Part::new(content)),
        }
    }
    if results.is_empty() {
        results.push(ToolResult {
            call_id: None,
            name: None,
            output: ResultOutput::Parts(Parts::default()),
            is_error: None,
            form: CallForm::Function,
        });
    }
    if let Some(first) = results.first_mut() {
        first.call_id = first.call_id.take().or_else(|| id.cloned());
        if let ResultOutput::Parts(parts) = &mut first.output {
            parts.extend(rest);
        }
    }
    let part = |result| Part::new(Content::ToolResult(Box::new(result)));
    results.into_iter().map(part).collect()
}

impl Given<'_> {
    pub(super) fn role(&self) -> Option<Role> {
        ROLES.iter().find(|(word, _)| self.role == *word).map(|(_, role)| *role)
    }

    pub(super) fn has_calls(&self) -> bool {
        self.tool_calls.as_ref().is_some_and(|calls| calls.kind() == Kind::Array)
    }
}
