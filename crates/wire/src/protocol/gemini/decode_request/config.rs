//! Reading `generationConfig` and `toolConfig`: how to answer, think and choose tools.

use crate::conversation::AllowedMode;
use crate::conversation::AllowedTool;
use crate::conversation::CallForm;
use crate::conversation::OutputFormat;
use crate::conversation::OutputSchema;
use crate::conversation::ThinkingMode;
use crate::conversation::ThinkingShow;
use crate::conversation::ToolChoice;
use crate::error::Result;
use crate::json::Json;
use crate::json::Kind;
use crate::json::Number;
use crate::json::Reader;
use crate::json::Text;
use crate::protocol::Field;
use crate::protocol::gemini::types::GEMINI;
use crate::protocol::gemini::types::LEVEL_LOWER;
use crate::protocol::gemini::types::MODE_NUMBER;
use crate::protocol::gemini::types::MODES;
use crate::protocol::gemini::types::OUTPUT_JSON_SCHEMA;
use crate::protocol::gemini::types::OUTPUT_TYPE_ABSENT;
use crate::protocol::gemini::types::REQUEST_NAMES;
use crate::protocol::gemini::types::camel;
use crate::protocol::gemini::types::generation_scope;
use crate::protocol::gemini::types::thinking_scope;
use crate::protocol::gemini::types::tool_choice_scope;
use crate::protocol::gemini::types::tool_config_scope;
use crate::protocol::object::Member;
use crate::protocol::object::read_object;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::Semantics;

use super::Draft;

/// The three fields that together say what the answer must look like.
#[derive(Default)]
pub(super) struct OutputDraft<'a> {
    mime: Option<Text<'a>>,
    schema: Option<Json<'a>>,
    json_schema: Option<Json<'a>>,
}

/// Reads an object, unless it says nothing: such a one is kept among the extras, since nothing else would bring it back.
fn read_stated<'a>(
    reader: &mut Reader<'a>,
    scope: &'static str,
    extras: &mut Extras<'a>,
    member: impl FnMut(&str, &mut Reader<'a>, &mut Extras<'a>) -> Result<Member>,
) -> Result<Member> {
    let start = reader.checkpoint();
    if !start.checkpoint().enters_object()? {
        return Ok(Member::Unknown);
    }
    match read_object(reader, scope, extras, member) {
        Ok(()) => Ok(Member::Read),
        // What is no JSON at all is told before what is of the wrong type.
        Err(error) => start.checkpoint().object(|_, reader| reader.skip()).and(Err(error)),
    }
}

impl<'a> Draft<'a> {
    pub(super) fn generation_config(
        &mut self,
        reader: &mut Reader<'a>,
        extras: &mut Extras<'a>,
    ) -> Result<Member> {
        let scope = generation_scope(self.shape);
        read_stated(reader, scope, extras, |key, reader, extras| {
            self.generation_member(key, reader, extras)
        })
    }

    fn generation_member(
        &mut self,
        key: &str,
        reader: &mut Reader<'a>,
        extras: &mut Extras<'a>,
    ) -> Result<Member> {
        let sampling = &mut self.request.sampling;
        let (field, number) = match camel(REQUEST_NAMES, key, &mut self.shape) {
            "temperature" => (Field::Temperature, &mut sampling.temperature),
            "topP" => (Field::TopP, &mut sampling.top_p),
            "topK" => (Field::TopK, &mut sampling.top_k),
            "seed" => (Field::Seed, &mut sampling.seed),
            "presencePenalty" => (Field::PresencePenalty, &mut sampling.presence_penalty),
            "frequencyPenalty" => (Field::FrequencyPenalty, &mut sampling.frequency_penalty),
            "candidateCount" => (Field::Candidates, &mut sampling.candidates),
            "logprobs" => (Field::TopLogprobs, &mut sampling.top_logprobs),
            "maxOutputTokens" => (Field::MaxOutputTokens, &mut self.request.max_output_tokens),
            _ => return self.generation_other(key, reader, extras),
        };
        *number = Some(read_number(field, reader, &mut self.semantics)?);
        Ok(Member::Read)
    }

    fn generation_other(
        &mut self,
        key: &str,
        reader: &mut Reader<'a>,
        extras: &mut Extras<'a>,
    ) -> Result<Member> {
        match camel(REQUEST_NAMES, key, &mut self.shape) {
            "responseLogprobs" => self.request.sampling.logprobs = Some(reader.boolean()?),
            "stopSequences" => return self.stop_sequences(reader),
            "responseMimeType" => self.output.mime = Some(reader.string()?),
            "responseSchema" => self.output.schema = Some(reader.raw()?),
            "responseJsonSchema" => self.output.json_schema = Some(reader.raw()?),
            "thinkingConfig" => return self.thinking_config(reader, extras),
            _ if generation_scope(self.shape) == "generationConfig" => {
                return self.declared(&format!("generationConfig/{key}"), reader);
            }
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    }

    fn stop_sequences(&mut self, reader: &mut Reader<'a>) -> Result<Member> {
        let mut stop = Vec::new();
        reader.checkpoint().array(|_, reader| {
            stop.push(reader.string()?);
            Ok(())
        })?;
        if stop.is_empty() {
            return Ok(Member::Unknown);
        }
        self.request.stop = stop;
        reader.skip()?;
        Ok(Member::Read)
    }

    fn thinking_config(
        &mut self,
        reader: &mut Reader<'a>,
        extras: &mut Extras<'a>,
    ) -> Result<Member> {
        let scope = thinking_scope(self.shape);
        read_stated(reader, scope, extras, |key, reader, _| self.thinking_member(key, reader))
    }

    fn thinking_member(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<Member> {
        let thinking = &mut self.request.thinking;
        match camel(REQUEST_NAMES, key, &mut self.shape) {
            "includeThoughts" => {
                thinking.show = Some(match reader.boolean()? {
                    true => ThinkingShow::Shown(None),
                    false => ThinkingShow::Hidden,
                });
                Ok(Member::Read)
            }
            "thinkingBudget" => self.thinking_budget(reader),
            "thinkingLevel" => self.thinking_level(reader),
            _ => Ok(Member::Unknown),
        }
    }

    fn thinking_budget(&mut self, reader: &mut Reader<'a>) -> Result<Member> {
        let budget = read_number(Field::ThinkingBudget, reader, &mut self.semantics)?;
        let thinking = &mut self.request.thinking;
        match budget.as_str() {
            "-1" => thinking.mode = Some(ThinkingMode::Adaptive),
            "0" => thinking.mode = Some(ThinkingMode::Disabled),
            _ => {
                thinking.mode = Some(ThinkingMode::Enabled);
                thinking.budget = Some(budget);
            }
        }
        Ok(Member::Read)
    }

    fn thinking_level(&mut self, reader: &mut Reader<'a>) -> Result<Member> {
        let word = reader.checkpoint().string()?;
        let effort = match &*word.to_str() {
            "MINIMAL" | "minimal" => "minimal",
            "LOW" | "low" => "low",
            "MEDIUM" | "medium" => "medium",
            "HIGH" | "high" => "high",
            _ => return Ok(Member::Unknown),
        };
        if word == effort {
            self.shape = self.shape.with(LEVEL_LOWER);
        }
        self.request.thinking.effort = Some(Text::literal(effort));
        reader.skip()?;
        Ok(Member::Read)
    }

    /// Tells a format that other protocols have from a combination that only this one has.
    pub(super) fn finish_output(&mut self) {
        let OutputDraft { mime, schema, json_schema } = std::mem::take(&mut self.output);
        let is = |word: &str| mime.as_ref().is_some_and(|mime| *mime == word);
        let has_type = mime.is_some();
        self.request.output = match (schema, json_schema) {
            (None, None) if !has_type => OutputFormat::Unsaid,
            (None, None) if is("text/plain") => OutputFormat::Text,
            (None, None) if is(JSON_TYPE) => OutputFormat::JsonObject,
            (Some(schema), None) if is(JSON_TYPE) || !has_type => output_schema(schema),
            (None, Some(schema)) if is(JSON_TYPE) || !has_type => {
                self.shape = self.shape.with(OUTPUT_JSON_SCHEMA);
                output_schema(schema)
            }
            (schema, json_schema) => {
                return self.vendor_output(OutputDraft { mime, schema, json_schema });
            }
        };
        if !has_type {
            self.shape = self.shape.with(OUTPUT_TYPE_ABSENT);
        }
    }

    fn vendor_output(&mut self, output: OutputDraft<'a>) {
        let quoted = |text: &Text<'a>| {
            let mut writer = crate::json::Writer::default();
            writer.value(text);
            Json::trusted(writer.into_string().into())
        };
        let fields = [
            ("generationConfig/responseMimeType", output.mime.as_ref().map(quoted)),
            ("generationConfig/responseSchema", output.schema),
            ("generationConfig/responseJsonSchema", output.json_schema),
        ];
        for (path, json) in fields {
            if let Some(json) = json {
                // All three paths are declared, so the namespace takes them.
                let _ = self.semantics.gemini_mut().take(path, json);
            }
        }
    }

    pub(super) fn tool_config(
        &mut self,
        reader: &mut Reader<'a>,
        extras: &mut Extras<'a>,
    ) -> Result<Member> {
        let scope = tool_config_scope(self.shape);
        read_stated(reader, scope, extras, |key, reader, extras| {
            match camel(REQUEST_NAMES, key, &mut self.shape) {
                "functionCallingConfig" => self.function_calling(reader, extras),
                _ if scope == "toolConfig" => self.declared(&format!("toolConfig/{key}"), reader),
                _ => Ok(Member::Unknown),
            }
        })
    }

    fn function_calling(
        &mut self,
        reader: &mut Reader<'a>,
        extras: &mut Extras<'a>,
    ) -> Result<Member> {
        let mut start = reader.checkpoint();
        let scope = tool_choice_scope(self.shape);
        let mut inner = Extras::default();
        let (mut mode, mut names) = (None, None);
        let member = read_stated(reader, scope, &mut inner, |key, reader, _| {
            match camel(REQUEST_NAMES, key, &mut self.shape) {
                "mode" if reader.kind()? == Kind::Number => {
                    let Some(word) = mode_of_number(&mut reader.checkpoint()) else {
                        return Ok(Member::Unknown);
                    };
                    reader.skip()?;
                    self.shape = self.shape.with(MODE_NUMBER);
                    mode = Some(Text::literal(word));
                }
                "mode" => mode = Some(reader.string()?),
                "allowedFunctionNames" => {
                    let list = text_list(&mut reader.checkpoint())?;
                    if list.is_empty() {
                        return Ok(Member::Unknown);
                    }
                    reader.skip()?;
                    names = Some(list);
                }
                _ => return Ok(Member::Unknown),
            }
            Ok(Member::Read)
        })?;
        if member == Member::Unknown {
            return Ok(member);
        }
        match tool_choice(mode.as_ref(), names) {
            Some(choice) => {
                self.request.tool_choice = Some(choice);
                extras.update(inner);
            }
            None => {
                let json = start.raw()?;
                self.request.tool_choice = Some(ToolChoice::Other { protocol: GEMINI, json });
            }
        }
        Ok(Member::Read)
    }
}

/// The type of an answer in JSON.
const JSON_TYPE: &str = "application/json";

fn output_schema<'a>(schema: Json<'a>) -> OutputFormat<'a> {
    OutputFormat::JsonSchema(Box::new(OutputSchema {
        schema: Some(schema),
        ..OutputSchema::default()
    }))
}

/// The word for a mode that is told by the number of the vendor's enumeration.
fn mode_of_number(reader: &mut Reader<'_>) -> Option<&'static str> {
    let number = usize::try_from(reader.u64().ok()?).ok()?;
    MODES.get(number.checked_sub(1)?).copied()
}

/// The choice that other protocols have too; none for what only this one can say.
fn tool_choice<'a>(
    mode: Option<&Text<'_>>,
    names: Option<Vec<Text<'a>>>,
) -> Option<ToolChoice<'a>> {
    let mode = mode?.to_str();
    match (&*mode, names) {
        ("AUTO", None) => Some(ToolChoice::Auto),
        ("NONE", None) => Some(ToolChoice::None),
        ("ANY", None) => Some(ToolChoice::Required),
        ("ANY", Some(mut names)) if names.len() == 1 => {
            Some(ToolChoice::Named { name: names.remove(0), form: CallForm::Function })
        }
        ("ANY", Some(names)) => Some(allowed(AllowedMode::Required, names)),
        ("VALIDATED", Some(names)) => Some(allowed(AllowedMode::Auto, names)),
        _ => None,
    }
}

fn allowed<'a>(mode: AllowedMode, names: Vec<Text<'a>>) -> ToolChoice<'a> {
    let tool = |name| AllowedTool { name: Some(name), json: None };
    ToolChoice::Allowed { mode, tools: names.into_iter().map(tool).collect() }
}

fn text_list<'a>(reader: &mut Reader<'a>) -> Result<Vec<Text<'a>>> {
    let mut texts = Vec::new();
    reader.array(|_, reader| {
        texts.push(reader.string()?);
        Ok(())
    })?;
    Ok(texts)
}

/// Reads a number. The vendor takes numbers in texts too, but no other texts.
fn read_number<'a>(
    field: Field,
    reader: &mut Reader<'a>,
    semantics: &mut Semantics<'a>,
) -> Result<Number<'a>> {
    if reader.kind()? == Kind::String
        && let Some(number) = number_in(&reader.checkpoint().string()?.to_str())
    {
        reader.skip()?;
        semantics.quote(field);
        return Ok(number);
    }
    reader.number()
}

/// The number that a text is; white space around it makes it none.
fn number_in(text: &str) -> Option<Number<'static>> {
    let mut reader = Reader::new(text);
    let number = reader.number().ok().filter(|number| number.as_str() == text)?;
    Some(number.into_owned())
}
