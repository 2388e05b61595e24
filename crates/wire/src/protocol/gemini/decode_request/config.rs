//! Reading `generationConfig` and `toolConfig`: how to answer, think and choose tools.

use crate::conversation::{
    AllowedMode, AllowedTool, CallForm, OutputFormat, OutputSchema, Thinking, ThinkingMode,
    ThinkingShow, ToolChoice,
};
use crate::error::Result;
use crate::json::{Json, Kind, Number, Reader, Text};
use crate::protocol::gemini::types::name::{REQUEST_NAMES, camel};
use crate::protocol::gemini::types::{
    GENERATION_SCOPE, RESPONSE_JSON_SCHEMA, SELF, THINKING_SCOPE, TOOL_CHOICE_SCOPE,
    TOOL_CONFIG_SCOPE,
};
use crate::protocol::object::{Member, read_object};
use crate::protocol::semantics::Extras;

use super::Draft;

/// The three fields that together say what the answer must look like.
#[derive(Default)]
pub(super) struct OutputDraft<'a> {
    mime: Option<Text<'a>>,
    schema: Option<Json<'a>>,
    json_schema: Option<Json<'a>>,
}

impl<'a> Draft<'a> {
    pub(super) fn generation_config(
        &mut self,
        reader: &mut Reader<'a>,
        extras: &mut Extras<'a>,
    ) -> Result<()> {
        read_object(reader, GENERATION_SCOPE, extras, |key, reader, extras| {
            self.generation_member(key, reader, extras)
        })
    }

    fn generation_member(
        &mut self,
        key: &str,
        reader: &mut Reader<'a>,
        extras: &mut Extras<'a>,
    ) -> Result<Member> {
        let Self { request, output, .. } = self;
        let sampling = &mut request.sampling;
        match camel(REQUEST_NAMES, key, &mut self.shape) {
            "temperature" => sampling.temperature = Some(read_number(reader)?),
            "topP" => sampling.top_p = Some(read_number(reader)?),
            "topK" => sampling.top_k = Some(read_number(reader)?),
            "seed" => sampling.seed = Some(read_number(reader)?),
            "presencePenalty" => sampling.presence_penalty = Some(read_number(reader)?),
            "frequencyPenalty" => sampling.frequency_penalty = Some(read_number(reader)?),
            "candidateCount" => sampling.candidates = Some(read_number(reader)?),
            "logprobs" => sampling.top_logprobs = Some(read_number(reader)?),
            "responseLogprobs" => sampling.logprobs = Some(reader.boolean()?),
            "maxOutputTokens" => request.max_output_tokens = Some(read_number(reader)?),
            "stopSequences" => request.stop = reader.list(|_, reader| reader.string())?,
            "responseMimeType" => output.mime = Some(reader.string()?),
            "responseSchema" => output.schema = Some(reader.raw()?),
            "responseJsonSchema" => output.json_schema = Some(reader.raw()?),
            "thinkingConfig" => self.thinking_config(reader, extras)?,
            _ => return self.declared(&format!("generationConfig/{key}"), reader),
        }
        Ok(Member::Read)
    }

    fn thinking_config(&mut self, reader: &mut Reader<'a>, extras: &mut Extras<'a>) -> Result<()> {
        let thinking = &mut self.request.thinking;
        read_object(reader, THINKING_SCOPE, extras, |key, reader, _| {
            match camel(REQUEST_NAMES, key, &mut self.shape) {
                "includeThoughts" => {
                    thinking.show = Some(match reader.boolean()? {
                        true => ThinkingShow::Shown(None),
                        false => ThinkingShow::Hidden,
                    });
                }
                "thinkingBudget" => read_budget(reader, thinking)?,
                "thinkingLevel" => match effort(&reader.checkpoint().string()?) {
                    Some(effort) => {
                        thinking.effort = Some(Text::literal(effort));
                        reader.skip()?;
                    }
                    None => return Ok(Member::Unknown),
                },
                _ => return Ok(Member::Unknown),
            }
            Ok(Member::Read)
        })
    }

    /// Tells a format that other protocols have from a combination that only this one has.
    pub(super) fn finish_output(&mut self) {
        let OutputDraft { mime, schema, json_schema } = std::mem::take(&mut self.output);
        let is = |word: &str| mime.as_ref().is_some_and(|mime| *mime == word);
        let has_type = mime.is_some();
        self.request.output = match (schema, json_schema) {
            (None, None) if !has_type => OutputFormat::Unset,
            (None, None) if is("text/plain") => OutputFormat::Text,
            (None, None) if is(JSON_TYPE) => OutputFormat::JsonObject,
            (Some(schema), None) if is(JSON_TYPE) || !has_type => output_schema(schema),
            (None, Some(schema)) if is(JSON_TYPE) || !has_type => {
                self.shape = self.shape.with(RESPONSE_JSON_SCHEMA);
                output_schema(schema)
            }
            (schema, json_schema) => {
                return self.vendor_output(OutputDraft { mime, schema, json_schema });
            }
        };
    }

    fn vendor_output(&mut self, output: OutputDraft<'a>) {
        let quoted = |text: &Text<'a>| Json::written(|writer| writer.value(text));
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
    ) -> Result<()> {
        read_object(reader, TOOL_CONFIG_SCOPE, extras, |key, reader, extras| {
            match camel(REQUEST_NAMES, key, &mut self.shape) {
                "functionCallingConfig" => self.function_calling(reader, extras)?,
                _ => return self.declared(&format!("toolConfig/{key}"), reader),
            }
            Ok(Member::Read)
        })
    }

    fn function_calling(&mut self, reader: &mut Reader<'a>, extras: &mut Extras<'a>) -> Result<()> {
        let mut start = reader.checkpoint();
        let mut inner = Extras::default();
        let (mut mode, mut names) = (None, Vec::new());
        read_object(reader, TOOL_CHOICE_SCOPE, &mut inner, |key, reader, _| {
            match (camel(REQUEST_NAMES, key, &mut self.shape), reader.kind()?) {
                ("mode", Kind::Number) => match mode_of_number(&mut reader.checkpoint()) {
                    Some(word) => {
                        mode = Some(Text::literal(word));
                        reader.skip()?;
                    }
                    None => return Ok(Member::Unknown),
                },
                ("mode", _) => mode = Some(reader.string()?),
                ("allowedFunctionNames", _) => names = reader.list(|_, reader| reader.string())?,
                _ => return Ok(Member::Unknown),
            }
            Ok(Member::Read)
        })?;
        let is_unset = mode.is_none() && names.is_empty();
        self.request.tool_choice = mode.and_then(|mode| tool_choice(&mode.to_str(), names));
        if self.request.tool_choice.is_some() || is_unset {
            extras.update(inner);
        } else {
            let json = start.raw()?;
            self.request.tool_choice = Some(ToolChoice::Other { protocol: SELF, json });
        }
        Ok(())
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

/// Reads a budget, of which two numbers are words for the mode.
fn read_budget<'a>(reader: &mut Reader<'a>, thinking: &mut Thinking<'a>) -> Result<()> {
    let budget = read_number(reader)?;
    thinking.mode = Some(match budget.as_str() {
        "-1" => ThinkingMode::Adaptive,
        "0" => ThinkingMode::Disabled,
        _ => ThinkingMode::Enabled,
    });
    thinking.budget = Some(budget).filter(|_| thinking.mode == Some(ThinkingMode::Enabled));
    Ok(())
}

/// The effort that a level means; the vendor's examples have levels in lower case.
fn effort(level: &Text<'_>) -> Option<&'static str> {
    const EFFORTS: [&str; 4] = ["minimal", "low", "medium", "high"];
    EFFORTS.into_iter().find(|effort| level.to_str().eq_ignore_ascii_case(effort))
}

/// The word for a mode that is stated by the number of the vendor's enumeration.
/// Fixture `request/schema/gemini-schema-types-as-numbers`.
fn mode_of_number(reader: &mut Reader<'_>) -> Option<&'static str> {
    const MODES: [&str; 4] = ["AUTO", "ANY", "NONE", "VALIDATED"];
    let number = usize::try_from(reader.u64().ok()?).ok()?;
    MODES.get(number.checked_sub(1)?).copied()
}

/// The choice that other protocols have too; none for what only this one can say.
fn tool_choice<'a>(mode: &str, mut names: Vec<Text<'a>>) -> Option<ToolChoice<'a>> {
    Some(match (mode, names.len()) {
        ("AUTO", 0) => ToolChoice::Auto,
        ("NONE", 0) => ToolChoice::None,
        ("ANY", 0) => ToolChoice::Required,
        ("ANY", 1) => ToolChoice::Named { name: names.remove(0), form: CallForm::Function },
        ("ANY", _) => allowed(AllowedMode::Required, names),
        ("VALIDATED", 1..) => allowed(AllowedMode::Auto, names),
        _ => return None,
    })
}

fn allowed<'a>(mode: AllowedMode, names: Vec<Text<'a>>) -> ToolChoice<'a> {
    let tool = |name| AllowedTool { name: Some(name), json: None };
    ToolChoice::Allowed { mode, tools: names.into_iter().map(tool).collect() }
}

/// Reads a number. The vendor takes numbers in texts too, but no other texts.
/// Fixture `request/fields/numbers-written-as-strings`.
fn read_number<'a>(reader: &mut Reader<'a>) -> Result<Number<'a>> {
    if reader.kind()? == Kind::String
        && let Some(number) = number_in(&reader.checkpoint().string()?.to_str())
    {
        reader.skip()?;
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
