//! Reading `generationConfig` and `toolConfig`: how to answer, think and choose tools.

use crate::conversation::{
    AllowedMode, AllowedTool, CallForm, OutputFormat, OutputSchema, Thinking, ThinkingMode,
    ThinkingShow, ToolChoice,
};
use crate::error::Result;
use crate::json::{Json, Kind, Number, Reader, Text};
use crate::protocol::gemini::types::name::{REQUEST_NAMES, camel};
use crate::protocol::gemini::types::{
    RESPONSE_JSON_SCHEMA, SELF, THINKING_SCOPE, TOOL_CHOICE_SCOPE, TOOL_CONFIG_SCOPE,
};
use crate::protocol::object::{Members, put, read_object, set};
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
    pub(super) fn generation_member(
        &mut self,
        key: &str,
        reader: &mut Members<'_, 'a>,
    ) -> Result<()> {
        let Self { request, output, .. } = self;
        let sampling = &mut request.sampling;
        match camel(REQUEST_NAMES, key, &mut self.shape) {
            "temperature" => set(&mut sampling.temperature, read_number(reader)),
            "topP" => set(&mut sampling.top_p, read_number(reader)),
            "topK" => set(&mut sampling.top_k, read_number(reader)),
            "seed" => set(&mut sampling.seed, read_number(reader)),
            "presencePenalty" => set(&mut sampling.presence_penalty, read_number(reader)),
            "frequencyPenalty" => set(&mut sampling.frequency_penalty, read_number(reader)),
            "candidateCount" => set(&mut sampling.candidates, read_number(reader)),
            "logprobs" => set(&mut sampling.top_logprobs, read_number(reader)),
            "responseLogprobs" => set(&mut sampling.logprobs, reader.boolean()),
            "maxOutputTokens" => set(&mut request.max_output_tokens, read_number(reader)),
            "stopSequences" => put(&mut request.stop, reader.list(|_, reader| reader.string())),
            "responseMimeType" => set(&mut output.mime, reader.string()),
            "responseSchema" => set(&mut output.schema, reader.raw()),
            "responseJsonSchema" => set(&mut output.json_schema, reader.raw()),
            "thinkingConfig" => self.thinking_config(reader),
            _ => self.declared(&format!("generationConfig/{key}"), reader),
        }
    }

    fn thinking_config(&mut self, reader: &mut Members<'_, 'a>) -> Result<()> {
        let thinking = &mut self.request.thinking;
        reader.inside(THINKING_SCOPE, |key, reader| {
            match camel(REQUEST_NAMES, key, &mut self.shape) {
                "includeThoughts" => {
                    thinking.show = Some(match reader.boolean()? {
                        true => ThinkingShow::Shown(None),
                        false => ThinkingShow::Hidden,
                    });
                }
                "thinkingBudget" => read_budget(reader, thinking)?,
                "thinkingLevel" => {
                    if let Some(effort) = effort(&reader.checkpoint().string()?) {
                        thinking.effort = Some(Text::literal(effort));
                        reader.skip()?;
                    }
                }
                _ => {}
            }
            Ok(())
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

    pub(super) fn tool_config(&mut self, reader: &mut Members<'_, 'a>) -> Result<()> {
        reader.inside(TOOL_CONFIG_SCOPE, |key, reader| {
            match camel(REQUEST_NAMES, key, &mut self.shape) {
                "functionCallingConfig" => self.function_calling(reader),
                _ => self.declared(&format!("toolConfig/{key}"), reader),
            }
        })
    }

    fn function_calling(&mut self, reader: &mut Members<'_, 'a>) -> Result<()> {
        let mut start = reader.checkpoint();
        let mut inner = Extras::default();
        let (mut mode, mut names) = (None, Vec::new());
        read_object(reader, TOOL_CHOICE_SCOPE, &mut inner, |key, reader| {
            match (camel(REQUEST_NAMES, key, &mut self.shape), reader.kind()?) {
                ("mode", Kind::Number) => {
                    if let Some(word) = mode_of_number(&mut reader.checkpoint()) {
                        mode = Some(Text::literal(word));
                        reader.skip()?;
                    }
                }
                ("mode", _) => mode = Some(reader.string()?),
                ("allowedFunctionNames", _) => names = reader.list(|_, reader| reader.string())?,
                _ => {}
            }
            Ok(())
        })?;
        let is_unset = mode.is_none() && names.is_empty();
        self.request.tool_choice = mode.and_then(|mode| tool_choice(&mode.to_str(), names));
        if self.request.tool_choice.is_some() || is_unset {
            reader.extras.update(inner);
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
