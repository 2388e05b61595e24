//! Reading tools and the choice among them.

use crate::conversation::{
    AllowedTool, CallForm, CustomFormat, CustomTool, FunctionTool, HostedService, HostedTool, Tool,
    ToolChoice, ToolKind,
};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Json, Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::object::{Members, read_tag, set};
use crate::protocol::openai_chat::decode_request::Decoding;
use crate::protocol::openai_chat::types::SELF;
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::tool_words::{choice_of, form_of, mode_of};

impl<'a> Decoding<'a> {
    /// Reads `tools`, or `functions`, each of which is a function without its wrapper.
    pub(super) fn tools(&mut self, reader: &mut Reader<'a>, list: Step) -> Result<()> {
        let read = if list == Step::Functions { read_bare_function } else { read_tool };
        self.request.tools =
            reader.list(|index, reader| read(reader, Place::default().element(list, index)))?;
        if self.request.tools.is_empty() {
            self.semantics.state_tools_empty();
        }
        Ok(())
    }
}

fn read_bare_function<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Tool<'a>> {
    let mut extras = Extras::default();
    let function = read_function(&mut Members { reader, extras: &mut extras }, "")?;
    let semantics = NodeSemantics::at(place).keeping(extras);
    Ok(Tool::new(ToolKind::Function(function)).with_semantics(semantics))
}

fn read_tool<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Tool<'a>> {
    let start = reader.checkpoint();
    let (kind, unread) = read_tag(reader, "type")?;
    // Servers that know nothing but functions let their clients leave the type out.
    // Fixture `request/tools/chat-tools-without-a-type`.
    let kind = kind.unwrap_or(Text::literal("function"));
    let mut tool = None;
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader| match (key, reader.kind()?) {
        ("type", _) => reader.skip(),
        ("function", Kind::Object) if kind == *key => {
            set(&mut tool, read_function(reader, "function").map(ToolKind::Function))
        }
        ("custom", Kind::Object) if kind == *key => {
            set(&mut tool, read_custom(reader).map(ToolKind::Custom))
        }
        _ => Ok(()),
    })?;
    let semantics = NodeSemantics::at(place);
    if let Some(tool) = tool {
        return Ok(Tool::new(tool).with_semantics(semantics.keeping(extras)));
    }
    *reader = start;
    let (service, json) = (service(&kind), reader.raw()?);
    let hosted = ToolKind::Hosted(HostedTool { protocol: SELF, service, kind, json });
    Ok(Tool::new(hosted).with_semantics(semantics))
}

fn service(kind: &Text<'_>) -> HostedService {
    match &*kind.to_str() {
        kind if kind.contains("search") => HostedService::WebSearch,
        kind if kind.contains("fetch") => HostedService::WebFetch,
        kind if kind.starts_with("code") => HostedService::CodeExecution,
        _ => HostedService::Other,
    }
}

fn read_function<'a>(
    reader: &mut Members<'_, 'a>,
    scope: &'static str,
) -> Result<FunctionTool<'a>> {
    let (mut name, mut description, mut parameters, mut strict) = (None, None, None, None);
    reader.inside(scope, |key, reader| match key {
        "name" => set(&mut name, reader.string()),
        "description" => set(&mut description, reader.string()),
        "parameters" => set(&mut parameters, reader.raw()),
        "strict" => set(&mut strict, reader.boolean()),
        _ => Ok(()),
    })?;
    let name = name.ok_or_else(|| missing("`name`"))?;
    Ok(FunctionTool { name, description, parameters, strict, output_schema: None })
}

fn read_custom<'a>(reader: &mut Members<'_, 'a>) -> Result<CustomTool<'a>> {
    let (mut name, mut description, mut format) = (None, None, None);
    reader.inside("custom", |key, reader| match key {
        "name" => set(&mut name, reader.string()),
        "description" => set(&mut description, reader.string()),
        "format" => {
            let mut ahead = reader.checkpoint();
            // A format of another shape rides along as it is.
            let Ok(known) = read_format(&mut ahead) else { return Ok(()) };
            *reader.reader = ahead;
            format = Some(known);
            Ok(())
        }
        _ => Ok(()),
    })?;
    let name = name.ok_or_else(|| missing("`name`"))?;
    Ok(CustomTool { name, description, format })
}

fn read_format<'a>(reader: &mut Reader<'a>) -> Result<CustomFormat<'a>> {
    let kind = reader.peek_tag("type")?.unwrap_or_default();
    let (mut definition, mut syntax) = (None, None);
    reader.object(|key, reader| match &*key {
        "type" => reader.skip(),
        "grammar" => reader.object(|key, reader| match &*key {
            "definition" => set(&mut definition, reader.string()),
            "syntax" => set(&mut syntax, reader.string()),
            _ => Err(missing("a known format")),
        }),
        _ => Err(missing("a known format")),
    })?;
    match (&*kind.to_str(), definition, syntax) {
        ("text", None, None) => Ok(CustomFormat::Text),
        ("grammar", Some(definition), Some(syntax)) => {
            Ok(CustomFormat::Grammar { definition, syntax })
        }
        _ => Err(missing("a known format")),
    }
}

/// Reads `tool_choice`; what has no word in the conversation is kept whole.
pub(super) fn read_choice<'a>(reader: &mut Reader<'a>) -> Result<ToolChoice<'a>> {
    let json = reader.raw()?;
    let known = match json.kind() {
        Kind::String => match json.as_str().trim_matches('"') {
            "any" => Some(ToolChoice::Required),
            word => choice_of(word),
        },
        Kind::Object => json.input_reader().and_then(|mut it| read_choice_object(&mut it).ok()),
        Kind::Null | Kind::Boolean | Kind::Number | Kind::Array => {
            let message = format!("expected a string or an object, found {}", json.kind());
            return Err(Error::new(ErrorKind::Type, message));
        }
    };
    Ok(known.unwrap_or(ToolChoice::Other { protocol: SELF, json }))
}

fn read_choice_object<'a>(reader: &mut Reader<'a>) -> Result<ToolChoice<'a>> {
    let kind = reader.peek_tag("type")?.unwrap_or(Text::literal("function"));
    let kind = kind.to_str();
    let mut choice = None;
    reader.object(|key, reader| match &*key {
        "type" if reader.kind()? == Kind::String => reader.skip(),
        "allowed_tools" if kind == key => set(&mut choice, read_allowed(reader)),
        _ if kind == key
            && let Some(form) = form_of(&key) =>
        {
            let named = |name| ToolChoice::Named { name, form };
            set(&mut choice, read_only_name(reader).map(named))
        }
        _ => Err(missing("a known choice")),
    })?;
    choice.ok_or_else(|| missing("a known choice"))
}

/// Reads an object that has a name and nothing else.
fn read_only_name<'a>(reader: &mut Reader<'a>) -> Result<Text<'a>> {
    let mut name = None;
    reader.object(|key, reader| match &*key {
        "name" => set(&mut name, reader.string()),
        _ => Err(missing("nothing but `name`")),
    })?;
    name.ok_or_else(|| missing("`name`"))
}

fn read_allowed<'a>(reader: &mut Reader<'a>) -> Result<ToolChoice<'a>> {
    let (mut mode, mut tools) = (None, Vec::new());
    reader.object(|key, reader| {
        match &*key {
            "mode" => {
                let known = mode_of(&reader.string()?.to_str());
                mode = Some(known.ok_or_else(|| missing("a known mode"))?);
            }
            "tools" => tools.extend(reader.list(|_, reader| reader.raw().map(read_allowed_tool))?),
            _ => return Err(missing("a known choice")),
        }
        Ok(())
    })?;
    let mode = mode.ok_or_else(|| missing("`mode`"))?;
    Ok(ToolChoice::Allowed { mode, tools })
}

fn read_allowed_tool(json: Json<'_>) -> AllowedTool<'_> {
    let mut name = None;
    if let Some(mut reader) = json.input_reader() {
        // An element of another shape has no name and is kept whole.
        let _ = reader.object(|key, reader| match &*key {
            "function" | "custom" if reader.kind()? == Kind::Object => {
                name = reader.peek_tag("name")?;
                reader.skip()
            }
            _ => reader.skip(),
        });
    }
    AllowedTool { name, json: Some(json) }
}

/// Reads `function_call` of a request: a word, or the name of a function.
pub(super) fn read_function_choice<'a>(reader: &mut Reader<'a>) -> Result<Option<ToolChoice<'a>>> {
    if reader.kind()? == Kind::Object {
        let (name, form) = (read_only_name(reader).ok(), CallForm::Function);
        return Ok(name.map(|name| ToolChoice::Named { name, form }));
    }
    let choice = choice_of(&reader.string()?.to_str());
    Ok(choice.filter(|choice| !matches!(choice, ToolChoice::Required)))
}

fn missing(expected: &str) -> Error {
    Error::new(ErrorKind::Missing, format!("expected {expected}, found none"))
}
