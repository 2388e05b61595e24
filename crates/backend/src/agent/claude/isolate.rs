//! How Claude Code is started so that it is nothing but its model: no tools of its own, no settings, hooks, servers, memory files or
//! commands of the user, nothing read from disk because a text names it, nothing tried again behind the gateway's back.

use super::seed::Question;
use crate::agent::spawn::{Launch, Program};

const ARGUMENTS: [&str; 15] = [
    "-p",
    "--output-format",
    "stream-json",
    "--input-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--no-session-persistence",
    "--setting-sources",
    "",
    "--strict-mcp-config",
    "--disable-slash-commands",
    "--tools",
    "",
    // Without it a reminder of how to sign commits goes out with the prompt.
    r#"--settings={"includeCoAuthoredBy":false,"attribution":{"commit":"","pr":""}}"#,
];

const VARIABLES: [(&str, &str); 8] = [
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    ("CLAUDE_AGENT_SDK_MCP_NO_PREFIX", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "0"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_AUTO_COMPACT", "1"),
    ("CLAUDE_CODE_DISABLE_REFUSAL_RETRY", "1"),
    ("CLAUDE_CODE_MAX_MCP_DESCRIPTION_LENGTH", "1000000"),
];

pub(in crate::agent) fn launch(
    program: &Program,
    question: &Question,
    model: Option<&str>,
) -> Launch {
    let mut arguments: Vec<String> = ARGUMENTS.map(str::to_owned).into();
    arguments.push(format!("--allowedTools=mcp__{}", super::tools::SERVER));
    let options = [("--model", model), ("--effort", question.effort.as_deref())];
    for (name, value) in options {
        // With the value in the same argument, none can be taken for an option.
        arguments.extend(value.map(|value| format!("{name}={value}")));
    }
    if question.is_thinking_off {
        arguments.push("--thinking=disabled".to_owned());
    }
    let mut variables: Vec<_> = VARIABLES.map(|(name, value)| (name, value.to_owned())).into();
    let tokens = question.max_tokens.map(|tokens| tokens.to_string());
    variables.extend(tokens.map(|tokens| ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", tokens)));
    let login = program.login.as_ref().map(|login| login.to_string_lossy().into_owned());
    variables.extend(login.map(|login| ("CLAUDE_CONFIG_DIR", login)));
    Launch { arguments, variables, ..Launch::default() }
}
