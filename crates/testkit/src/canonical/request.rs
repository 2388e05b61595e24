//! What a request states.

use sabir_wire::conversation::{
    AllowedMode, OutputFormat, Request, Thinking, ThinkingMode, ThinkingShow, ToolChoice,
};
use sabir_wire::json::{Json, Text};
use sabir_wire::protocol::{Declared, DecodedRequest, Field};
use serde_json::{Value, json};

use super::{Fact, Group, Node, Statement, normal, part, tool};

pub(super) fn statement(decoded: &DecodedRequest<'_>) -> Statement {
    let pointer = |field: Field| decoded.pointer(None, field);
    let mut facts = settings(decoded, &pointer);
    facts.extend(own_fields(decoded));
    let turns = part::of_messages(&decoded.request().messages, decoded);
    let tools = tool::of_tools(&decoded.request().tools, decoded);
    let lists = vec![turns, tools, stops(decoded, &pointer(Field::Stop))];
    Statement { protocol: decoded.protocol(), facts, lists }
}

fn stops(decoded: &DecodedRequest<'_>, list: &str) -> Vec<Node> {
    let stop = |(index, text): (usize, &Text<'_>)| {
        let place = format!("{list}/{index}");
        Node::new("stop", place.clone()).with("text", normal::text(text), place)
    };
    decoded.request().stop.iter().enumerate().map(stop).collect()
}

fn settings(decoded: &DecodedRequest<'_>, pointer: &dyn Fn(Field) -> String) -> Vec<Fact> {
    let Request {
        model,
        stream,
        messages: _,
        tools: _,
        tool_choice,
        parallel_tool_calls,
        max_output_tokens,
        sampling,
        stop: _,
        output,
        verbosity,
        thinking,
        safety_identifier,
        user,
        metadata,
        service_tier,
        store,
        cache,
    } = decoded.request();
    let mut facts = Facts { list: Vec::new(), pointer };
    let model = model.as_ref().map(normal::text);
    facts.add(Field::Model, model.map(|it| it.as_str().map(without_folder).into()));
    facts.add(Field::Stream, stream.map(Value::from));
    facts.group(Group::Choice, Field::ToolChoice, tool_choice.as_ref().map(choice));
    facts.group(Group::Choice, Field::ParallelToolCalls, parallel_tool_calls.map(Value::from));
    let numbers = [
        (Field::MaxOutputTokens, max_output_tokens),
        (Field::Temperature, &sampling.temperature),
        (Field::TopP, &sampling.top_p),
        (Field::TopK, &sampling.top_k),
        (Field::Seed, &sampling.seed),
        (Field::PresencePenalty, &sampling.presence_penalty),
        (Field::FrequencyPenalty, &sampling.frequency_penalty),
        (Field::Candidates, &sampling.candidates),
    ];
    for (field, number) in numbers {
        facts.add(field, number.as_ref().map(normal::number));
    }
    // Who says how many wants them, unless it is none.
    match (sampling.logprobs, &sampling.top_logprobs) {
        (None, Some(count)) if count.as_f64() != Some(0.0) => {
            let pointer = pointer(Field::TopLogprobs);
            facts.list.push(Fact::new(Field::Logprobs.name(), true, pointer).of(Group::Logprobs));
        }
        (logprobs, _) => facts.group(Group::Logprobs, Field::Logprobs, logprobs.map(Value::from)),
    }
    let top_logprobs = sampling.top_logprobs.as_ref().map(normal::number);
    facts.group(Group::Logprobs, Field::TopLogprobs, top_logprobs);
    output_format(output, &mut facts);
    facts.add(Field::Verbosity, verbosity.as_ref().map(normal::text));
    let mode = thinking_mode(thinking);
    let is_on = mode != Some(ThinkingMode::Disabled);
    let field = match thinking.mode {
        None if thinking.effort.is_some() => Field::ThinkingEffort,
        None if thinking.budget.is_some() => Field::ThinkingBudget,
        _ => Field::ThinkingMode,
    };
    let word = mode.map(|mode| Value::from(mode_word(mode)));
    let mode = Fact::new(Field::ThinkingMode.name(), word, pointer(field));
    facts.list.push(mode.of(Group::Thinking));
    let effort = thinking.effort.as_ref().filter(|_| is_on).map(normal::text);
    facts.group(Group::Thinking, Field::ThinkingEffort, effort);
    let budget = thinking.budget.as_ref().filter(|_| is_on).map(normal::number);
    facts.group(Group::Thinking, Field::ThinkingBudget, budget);
    facts.group(Group::Thinking, Field::ThinkingShow, thinking.show.as_ref().map(shown));
    let identifier = safety_identifier.as_ref().map(normal::text);
    facts.group(Group::User, Field::SafetyIdentifier, identifier);
    facts.group(Group::User, Field::User, user.as_ref().map(normal::text));
    facts.group(Group::User, Field::Metadata, metadata.as_ref().map(normal::json));
    facts.add(Field::ServiceTier, service_tier.as_ref().map(|it| normal::tier(&it.to_str())));
    facts.add(Field::Store, store.map(Value::from));
    facts.group(Group::Cache, Field::CacheKey, cache.key.as_ref().map(normal::text));
    facts.group(Group::Cache, Field::CacheOptions, cache.options.as_ref().map(normal::json));
    facts.group(Group::Cache, Field::CacheRetention, cache.retention.as_ref().map(normal::text));
    let session = decoded.semantics().session();
    facts.add(Field::PreviousResponse, session.previous_response_id.as_ref().map(normal::text));
    facts.add(Field::Conversation, session.conversation.as_ref().map(normal::json));
    facts.list
}

/// Facts in the making.
struct Facts<'p> {
    list: Vec<Fact>,
    pointer: &'p dyn Fn(Field) -> String,
}

impl Facts<'_> {
    fn add(&mut self, field: Field, value: Option<Value>) {
        self.group(Group::Alone, field, value);
    }

    fn group(&mut self, group: Group, field: Field, value: Option<Value>) {
        let fact = Fact::new(field.name(), value.unwrap_or_default(), (self.pointer)(field));
        self.list.push(fact.of(group));
    }
}

fn output_format(output: &OutputFormat<'_>, facts: &mut Facts<'_>) {
    let sort = match output {
        OutputFormat::Unset | OutputFormat::Text => None,
        OutputFormat::JsonObject => Some(Value::from("object")),
        OutputFormat::JsonSchema(_) => Some(Value::from("schema")),
    };
    // A schema says by itself that the answer is to have one.
    let stated_by = match output {
        OutputFormat::JsonSchema(schema) if schema.schema.is_some() => Field::OutputSchema,
        _ => Field::OutputFormat,
    };
    let pointer = (facts.pointer)(stated_by);
    let fact = Fact::new(Field::OutputFormat.name(), sort.unwrap_or_default(), pointer);
    facts.list.push(fact.of(Group::Output));
    let OutputFormat::JsonSchema(schema) = output else { return };
    facts.group(Group::Output, Field::OutputSchemaName, schema.name.as_ref().map(normal::text));
    let description = schema.description.as_ref().map(normal::text);
    facts.group(Group::Output, Field::OutputSchemaDescription, description);
    facts.group(Group::Output, Field::OutputSchemaStrict, schema.strict.map(Value::from));
    let schema = schema.schema.as_ref().map(|it| normal::schema(&normal::json(it)));
    facts.group(Group::Output, Field::OutputSchema, schema);
}

/// The fields that only one protocol has, and those that nobody knows.
fn own_fields(decoded: &DecodedRequest<'_>) -> Vec<Fact> {
    let semantics = decoded.semantics();
    let mut facts = Vec::new();
    let mut declared = |(declared, json): (&'static Declared, &Json<'_>)| {
        let pointer = format!("/{}", declared.path);
        if declared.kind != sabir_wire::LossKind::Implied {
            facts.push(Fact::new(declared.path, normal::json(json), pointer));
        }
    };
    semantics.chat().iter().flat_map(|it| it.set()).for_each(&mut declared);
    semantics.responses().iter().flat_map(|it| it.set()).for_each(&mut declared);
    semantics.anthropic().iter().flat_map(|it| it.set()).for_each(&mut declared);
    semantics.gemini().iter().flat_map(|it| it.set()).for_each(&mut declared);
    facts.extend(part::of_extras(decoded.protocol(), semantics.extras(), &|_| String::new()));
    facts
}

fn without_folder(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

fn choice(choice: &ToolChoice<'_>) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named { name, form: _ } => json!([normal::text(name)]),
        ToolChoice::Allowed { mode, tools } => {
            let names = tools.iter().map(|tool| match (&tool.name, &tool.json) {
                (Some(name), _) => normal::text(name),
                (None, json) => json.as_ref().map(normal::json).unwrap_or_default(),
            });
            let names: Vec<Value> = names.collect();
            match mode {
                AllowedMode::Required if names.len() == 1 => json!(names),
                AllowedMode::Required => json!({"required": names}),
                AllowedMode::Auto => json!({"auto": names}),
            }
        }
        ToolChoice::Other { protocol, json } => json!([protocol.as_str(), normal::json(json)]),
    }
}

/// Whether to think, unless it goes without saying: who says how much wants thinking, or none.
fn thinking_mode(thinking: &Thinking<'_>) -> Option<ThinkingMode> {
    let is_none = thinking.effort.as_ref().is_some_and(|effort| *effort == "none");
    let is_zero = thinking.budget.as_ref().is_some_and(|it| it.as_f64() == Some(0.0));
    let is_implied = thinking.effort.is_some() || thinking.budget.is_some();
    match thinking.mode {
        _ if is_none || is_zero => Some(ThinkingMode::Disabled),
        Some(ThinkingMode::Enabled | ThinkingMode::Adaptive) if is_implied => None,
        // Without a budget it is left to the model how much.
        Some(ThinkingMode::Enabled) => Some(ThinkingMode::Adaptive),
        mode => mode,
    }
}

fn mode_word(mode: ThinkingMode) -> &'static str {
    match mode {
        ThinkingMode::Enabled => "enabled",
        ThinkingMode::Adaptive => "adaptive",
        ThinkingMode::BetweenTools => "between tools",
        ThinkingMode::Disabled => "disabled",
    }
}

fn shown(show: &ThinkingShow<'_>) -> Value {
    match show {
        ThinkingShow::Hidden => json!(false),
        ThinkingShow::Shown(None) => json!(true),
        ThinkingShow::Shown(Some(word)) if *word == "auto" => json!(true),
        ThinkingShow::Shown(Some(word)) => normal::text(word),
    }
}
