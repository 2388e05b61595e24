//! How Codex is started and its thread set up so that it is nothing but its model: a home of its own with the user's login and nothing
//! else, no environment in which anything could run, and every feature off.

use std::path::Path;
use std::{fs, io};

use sabir_wire::json::Writer;

use crate::agent::Permissions;
use crate::agent::spawn::{Launch, Program};
use crate::agent::work::link;

/// Where the login is, in the CLI's own folder. It is written in its place when it is refreshed.
const LOGIN: &str = "auth.json";

const FEATURES: [&str; 18] = [
    "shell_tool",
    "unified_exec",
    "apps",
    "plugins",
    "goals",
    "view_image",
    "image_generation",
    "multi_agent",
    "skill_search",
    "tool_suggest",
    "sleep_tool",
    "hooks",
    "memories",
    "code_mode_host",
    "browser_use",
    "computer_use",
    "workspace_dependencies",
    "skill_mcp_dependency_install",
];

/// What would be added to the instructions.
const INCLUDED: [&str; 3] = [
    "include_permissions_instructions",
    "include_apps_instructions",
    "include_environment_context",
];

/// Longer results of tools would be cut.
const RESULT_TOKENS_MAX: u64 = 100_000_000;

/// What the CLI takes a model for of which it knows nothing.
const CONTEXT_WINDOW: u64 = 272_000;

const EFFORTS: [&str; 6] = ["none", "minimal", "low", "medium", "high", "xhigh"];

pub(in crate::agent) fn launch(model: Option<&str>) -> Launch {
    let arguments = vec!["app-server".to_owned()];
    let files = model.into_iter().flat_map(|model| {
        let settings = "model_catalog_json = \"catalog.json\"\n".to_owned();
        [("home/config.toml", settings), ("home/catalog.json", catalog(model))]
    });
    let files = files.collect();
    Launch { arguments, files, furnish: Some(furnish), ..Launch::default() }
}

/// A list of models with the one that is asked for. In the CLI's own list nearly all models call tools from programs that they
/// write, and are told of teams of agents; a model that is on no list gets no images.
fn catalog(model: &str) -> String {
    let mut writer = Writer::default();
    writer.object(|it| {
        it.key("models");
        it.array(|it| it.object(|it| write_model(model, it)));
    });
    writer.into_string()
}

fn write_model(model: &str, writer: &mut Writer) {
    for name in ["slug", "display_name"] {
        writer.field(name, model);
    }
    for name in ["description", "base_instructions"] {
        writer.field(name, "");
    }
    writer.field("default_reasoning_level", "medium");
    writer.key("supported_reasoning_levels");
    writer.array(|it| {
        for effort in EFFORTS {
            it.object(|it| {
                it.field("effort", effort);
                it.field("description", "");
            });
        }
    });
    writer.field("shell_type", "disabled");
    writer.field("visibility", "list");
    writer.field("priority", &0_u64);
    for name in ["supported_in_api", "supports_reasoning_summaries", "supports_parallel_tool_calls"]
    {
        writer.field(name, &true);
    }
    writer.field("support_verbosity", &false);
    writer.key("truncation_policy");
    writer.object(|it| {
        it.field("mode", "tokens");
        it.field("limit", &RESULT_TOKENS_MAX);
    });
    writer.field("context_window", &CONTEXT_WINDOW);
    writer.field("experimental_supported_tools", &[""; 0][..]);
    writer.field("input_modalities", &["text", "image"][..]);
}

pub(super) fn furnish(root: &Path, program: &Program) -> io::Result<Vec<(&'static str, String)>> {
    let home = root.join("home");
    fs::create_dir_all(&home)?;
    let users = program.login.clone();
    let users = users.or_else(|| Some(Path::new(program.variable("HOME")?).join(".codex")));
    if let Some(login) = users.map(|users| users.join(LOGIN)).filter(|login| login.exists()) {
        link(&login, &home.join(LOGIN))?;
    }
    Ok(vec![("CODEX_HOME", home.to_string_lossy().into_owned())])
}

/// The configuration of a thread.
pub(super) fn write_config(writer: &mut Writer) {
    writer.object(|it| {
        it.key("features");
        it.object(|it| FEATURES.iter().for_each(|feature| it.field(feature, &false)));
        it.field("web_search", "disabled");
        it.key("tools");
        it.object(|it| {
            it.key("experimental_request_user_input");
            it.object(|it| it.field("enabled", &false));
        });
        INCLUDED.iter().for_each(|included| it.field(included, &false));
        it.field("project_doc_max_bytes", &0_u64);
        it.key("skills");
        it.object(|it| {
            it.key("bundled");
            it.object(|it| it.field("enabled", &false));
            it.field("include_instructions", &false);
        });
        it.field("tool_output_token_limit", &RESULT_TOKENS_MAX);
    });
}

/// What an agent at work has of the features: the shell, and looking at images.
const WORKING: [&str; 3] = ["shell_tool", "unified_exec", "view_image"];

/// The configuration of a thread that works in a folder. Its commands get no variables that look like keys, and the sandbox stays.
pub(super) fn write_work_config(permissions: Permissions, writer: &mut Writer) {
    let is_full = permissions == Permissions::Full;
    writer.object(|it| {
        let off = FEATURES.iter().filter(|feature| !WORKING.contains(feature));
        it.object_field("features", |it| off.for_each(|feature| it.field(feature, &false)));
        if !is_full {
            it.field("web_search", "disabled");
        }
        it.object_field("tools", |it| {
            it.object_field("experimental_request_user_input", |it| it.field("enabled", &false));
        });
        it.object_field("skills", |it| {
            it.object_field("bundled", |it| it.field("enabled", &false));
            it.field("include_instructions", &false);
        });
        it.object_field("shell_environment_policy", |it| it.field("inherit", "core"));
        it.object_field("sandbox_workspace_write", |it| {
            it.field("network_access", &is_full);
            it.field("exclude_slash_tmp", &true);
        });
    });
}
