//! A home of the process's own: no tools, no hooks, no servers, no memory files. Only the login is the user's.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sabir_wire::json::{Kind, Reader, Writer};

use crate::agent::folder::Folder;
use crate::agent::spawn::Program;

/// Where the CLI keeps its files in a home.
const FOLDER: &str = ".gemini";

/// The files of a login. The CLI writes them in their place when it refreshes it.
const LOGIN: [&str; 3] = ["oauth_creds.json", "google_accounts.json", "installation_id"];

/// What stands in the place of the CLI's own five thousand tokens on how to work in a project.
const SYSTEM: &str = "Answer what you are asked.\n";

const SETTINGS_BYTES_MAX: u64 = 1024 * 1024;

pub(super) fn variables() -> Vec<(&'static str, String)> {
    vec![("GEMINI_CLI_NO_RELAUNCH", "true".to_owned())]
}

/// Makes the home.
pub(in crate::agent) fn furnish(
    folder: &Folder,
    program: &Program,
) -> io::Result<Vec<(&'static str, String)>> {
    let home = folder.path().join("home");
    let own = home.join(FOLDER);
    fs::create_dir_all(&own)?;
    let users =
        program.login.clone().or_else(|| Some(Path::new(program.variable("HOME")?).join(FOLDER)));
    for name in LOGIN {
        let file = users.as_ref().map(|users| users.join(name)).filter(|file| file.exists());
        if let Some(file) = file {
            symlink(file, own.join(name))?;
        }
    }
    let has_key = program.variable("GEMINI_API_KEY").is_some();
    let selected = match has_key {
        true => Some("gemini-api-key".to_owned()),
        false => users.and_then(|users| selected_type(&users)),
    };
    fs::write(own.join("settings.json"), settings(selected.as_deref()))?;
    let system = home.join("system.md");
    fs::write(&system, SYSTEM)?;
    let variables = [("GEMINI_CLI_HOME", home), ("GEMINI_SYSTEM_MD", system)];
    Ok(variables.map(|(name, path)| (name, path.to_string_lossy().into_owned())).into())
}

fn settings(selected: Option<&str>) -> String {
    let mut writer = Writer::default();
    writer.object(|it| {
        it.key("tools");
        // A list of tools that are none of its own declares none.
        it.object(|it| it.field("core", &["none"][..]));
        for (section, key) in
            [("skills", "enabled"), ("hooksConfig", "enabled"), ("telemetry", "enabled")]
        {
            it.key(section);
            it.object(|it| it.field(key, &false));
        }
        it.key("general");
        it.object(|it| it.field("maxAttempts", &1_u64));
        it.key("model");
        it.object(|it| {
            it.field("skipNextSpeakerCheck", &true);
            it.field("disableLoopDetection", &true);
        });
        if let Some(selected) = selected {
            it.key("security");
            it.object(|it| {
                it.key("auth");
                it.object(|it| it.field("selectedType", selected));
            });
        }
    });
    writer.into_string()
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
