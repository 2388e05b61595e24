//! A home of the process's own: no tools, no hooks, no servers, no memory files. Only the login is the user's.

use std::path::{Path, PathBuf};
use std::{fs, io};

use sabir_wire::json::{Kind, Reader, Writer};

use crate::agent::spawn::{Launch, Program};
use crate::agent::work::link;

/// Where the CLI keeps its files in a home.
pub(super) const FOLDER: &str = ".gemini";

/// The files of a login. The CLI writes them in their place when it refreshes it.
const LOGIN: [&str; 3] = ["oauth_creds.json", "google_accounts.json", "installation_id"];

/// The file that stands in the place of the CLI's own five thousand tokens on how to work in a project.
pub(super) const SYSTEM: &str = "home/system.md";

/// The CLI asks before it runs anything, and so never does.
const POLICY: &str = "[[rule]]\ntoolName = \"*\"\ndecision = \"ask_user\"\npriority = 999\n";

const SETTINGS_BYTES_MAX: u64 = 1024 * 1024;

/// Whether a command says itself how the output is to look. It is the document's own call, and gets a prompt and no more arguments.
pub(in crate::agent) fn is_complete(command: &[String]) -> bool {
    command.iter().any(|it| it.starts_with("--output-format"))
}

/// How the CLI is started for many sessions.
pub(in crate::agent) fn launch(model: Option<&str>) -> Launch {
    let mut arguments =
        ["--acp", "--skip-trust", "--admin-policy=../home/policy.toml"].map(str::to_owned).to_vec();
    // With the value in the same argument, none can be taken for an option.
    arguments.extend(model.map(|model| format!("--model={model}")));
    let mut launch = Launch { arguments, ..launch_prompt() };
    launch.files.push(("home/policy.toml", POLICY.to_owned()));
    launch
}

/// How it is started for one prompt.
pub(in crate::agent) fn launch_prompt() -> Launch {
    // It works in no folder that nobody trusts; its own is empty.
    let variables = ["GEMINI_CLI_NO_RELAUNCH", "GEMINI_CLI_TRUST_WORKSPACE"];
    let variables = variables.map(|name| (name, "true".to_owned())).to_vec();
    // It takes variables, keys among them, from the first `.env` at or above the folder that it works in.
    let files = vec![(SYSTEM, "Answer what you are asked.\n".to_owned()), (".env", String::new())];
    Launch { variables, files, furnish: Some(furnish), ..Launch::default() }
}

/// Makes the home.
fn furnish(root: &Path, program: &Program) -> io::Result<Vec<(&'static str, String)>> {
    let home = root.join("home");
    let selected = link_login(&home, program)?;
    fs::write(home.join(FOLDER).join("settings.json"), settings(selected.as_deref()))?;
    let system = root.join(SYSTEM);
    let variables = [("GEMINI_CLI_HOME", home), ("GEMINI_SYSTEM_MD", system)];
    Ok(variables.map(|(name, path)| (name, path.to_string_lossy().into_owned())).into())
}

/// Puts the user's login into a home, and says which of several it is.
pub(super) fn link_login(home: &Path, program: &Program) -> io::Result<Option<String>> {
    let own = home.join(FOLDER);
    fs::create_dir_all(&own)?;
    let users =
        program.login.clone().or_else(|| Some(Path::new(program.variable("HOME")?).join(FOLDER)));
    for name in LOGIN {
        let file = users.as_ref().map(|users| users.join(name)).filter(|file| file.exists());
        if let Some(file) = file {
            link(&file, &own.join(name))?;
        }
    }
    Ok(match program.variable("GEMINI_API_KEY").is_some() {
        true => Some("gemini-api-key".to_owned()),
        false => users.and_then(|users| selected_type(&users)),
    })
}

fn settings(selected: Option<&str>) -> String {
    let mut writer = Writer::default();
    writer.object(|it| {
        // A list of tools that are none of its own declares none.
        it.object_field("tools", |it| it.field("core", &["none"][..]));
        write_common(it);
        write_security(selected, it, |_| {});
        it.object_field("general", |it| it.field("maxAttempts", &1_u64));
    });
    writer.into_string()
}

/// What all its homes have in common: no skills, hooks and reports, and one answer for one prompt.
pub(super) fn write_common(writer: &mut Writer) {
    for section in ["skills", "hooksConfig", "telemetry"] {
        writer.object_field(section, |it| it.field("enabled", &false));
    }
    writer.object_field("model", |it| {
        it.field("skipNextSpeakerCheck", &true);
        it.field("disableLoopDetection", &true);
    });
}

/// The login, and what else is said of security.
pub(super) fn write_security(
    selected: Option<&str>,
    writer: &mut Writer,
    more: impl FnOnce(&mut Writer),
) {
    writer.object_field("security", |it| {
        if let Some(selected) = selected {
            it.object_field("auth", |it| it.field("selectedType", selected));
        }
        more(it);
    });
}

/// How the user logs in.
fn selected_type(users: &Path) -> Option<String> {
    let file: PathBuf = users.join("settings.json");
    if fs::metadata(&file).ok()?.len() > SETTINGS_BYTES_MAX {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let mut selected = None;
    let read = Reader::new(&text).object(|key, reader| match &*key {
        "security" => reader.object(|key, reader| match &*key {
            "auth" => reader.object(|key, reader| match (&*key, reader.kind()?) {
                ("selectedType", Kind::String) => {
                    selected = Some(reader.string()?.into_str().into_owned());
                    Ok(())
                }
                _ => reader.skip(),
            }),
            _ => reader.skip(),
        }),
        _ => reader.skip(),
    });
    read.ok().and(selected)
}
