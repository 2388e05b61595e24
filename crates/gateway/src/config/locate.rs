//! Which config file is read: the one that is named, else the first that exists of the usual places. And where Sabir keeps
//! files of its own.

use std::path::{Path, PathBuf};

use crate::config::environment;
use crate::config::environment::Lookup;

/// What a config file is called.
pub const FILE_NAME: &str = "sabir.toml";

/// The variable that may name the file.
pub const FILE_VARIABLE: &str = "SABIR_CONFIG";

/// The variable that may name the folder of Sabir's own files.
pub const DATA_VARIABLE: &str = "SABIR_DATA_DIR";

/// What decides where a user's own settings are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    Unix,
    Macos,
    Windows,
}

impl Platform {
    /// The one that this program was built for.
    pub const HERE: Self = if cfg!(target_os = "macos") {
        Self::Macos
    } else if cfg!(windows) {
        Self::Windows
    } else {
        Self::Unix
    };
}

/// The file to read. One that the user names is returned whether it exists or not, so that a slip shows.
pub fn locate(named: Option<&Path>, variable: Lookup<'_>) -> Option<PathBuf> {
    let exists = |path: &Path| path.is_file();
    locate_on(Platform::HERE, named, variable, &exists)
}

fn locate_on(
    platform: Platform,
    named: Option<&Path>,
    variable: Lookup<'_>,
    exists: &dyn Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let by_variable = || environment::value(variable, FILE_VARIABLE).map(PathBuf::from);
    if let Some(path) = named.map(Path::to_path_buf).or_else(by_variable) {
        return Some(path);
    }
    let usual = [Some(PathBuf::from(FILE_NAME)), user_file(platform, variable)];
    usual.into_iter().flatten().find(|path| exists(path))
}

/// Where the user's own config file would be.
pub fn user_file(platform: Platform, variable: Lookup<'_>) -> Option<PathBuf> {
    let folder = |name: &str| environment::value(variable, name).map(PathBuf::from);
    let settings = match platform {
        // The standard says that a relative path in this variable is to be ignored.
        Platform::Unix => folder("XDG_CONFIG_HOME")
            .filter(|path| path.has_root())
            .or_else(|| Some(folder("HOME")?.join(".config"))),
        Platform::Macos => Some(folder("HOME")?.join("Library").join("Application Support")),
        Platform::Windows => folder("APPDATA"),
    };
    Some(settings?.join("sabir").join(FILE_NAME))
}

/// The folder of Sabir's own files: the one that a variable names, else the user's own. It need not exist.
pub fn data_folder(platform: Platform, variable: Lookup<'_>) -> Option<PathBuf> {
    let folder = |name: &str| environment::value(variable, name).map(PathBuf::from);
    if let Some(named) = folder(DATA_VARIABLE) {
        return Some(named);
    }
    let rooted = |name: &str| folder(name).filter(|path| path.has_root());
    let data = match platform {
        Platform::Unix => {
            rooted("XDG_DATA_HOME").or_else(|| Some(rooted("HOME")?.join(".local").join("share")))
        }
        Platform::Macos => Some(rooted("HOME")?.join("Library").join("Application Support")),
        Platform::Windows => folder("APPDATA"),
    };
    Some(data?.join("sabir"))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Variables<'a> = &'a [(&'a str, &'a str)];

    fn located(platform: Platform, variables: Variables<'_>, existing: &[&str]) -> Option<String> {
        let lookup = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let exists = |path: &Path| existing.iter().any(|known| path == Path::new(known));
        let found = locate_on(platform, None, &lookup, &exists);
        found.map(|path| path.display().to_string())
    }

    #[test]
    fn the_named_file_comes_first_even_if_it_does_not_exist() {
        let lookup = |name: &str| (name == FILE_VARIABLE).then(|| "b.toml".to_owned());
        let nothing = |_: &Path| false;
        let named = locate_on(Platform::Unix, Some(Path::new("a.toml")), &lookup, &nothing);
        assert_eq!(named, Some(PathBuf::from("a.toml")));
        let by_variable = locate_on(Platform::Unix, None, &lookup, &nothing);
        assert_eq!(by_variable, Some(PathBuf::from("b.toml")));
    }

    #[test]
    fn the_working_folder_comes_before_the_users_own() {
        let home = [("HOME", "/users/u")];
        let own = "/users/u/.config/sabir/sabir.toml";
        assert_eq!(located(Platform::Unix, &home, &[own, "sabir.toml"]).unwrap(), "sabir.toml");
        assert_eq!(located(Platform::Unix, &home, &[own]).unwrap(), own);
        assert_eq!(located(Platform::Unix, &home, &[]), None);
        assert_eq!(located(Platform::Unix, &[], &[]), None);
    }

    #[test]
    fn every_platform_has_its_own_folder() {
        let set = [("XDG_CONFIG_HOME", "/etc/u"), ("HOME", "/users/u")];
        let file = "/etc/u/sabir/sabir.toml";
        assert_eq!(located(Platform::Unix, &set, &[file]).unwrap(), file);
        let relative = [("XDG_CONFIG_HOME", "u"), ("HOME", "/users/u")];
        let file = "/users/u/.config/sabir/sabir.toml";
        assert_eq!(located(Platform::Unix, &relative, &[file]).unwrap(), file);
        let file = "/users/u/Library/Application Support/sabir/sabir.toml";
        assert_eq!(located(Platform::Macos, &set, &[file]).unwrap(), file);
        let roaming = Path::new("roaming").join("sabir").join(FILE_NAME);
        let roaming = roaming.to_str().unwrap();
        let found = located(Platform::Windows, &[("APPDATA", "roaming")], &[roaming]);
        assert_eq!(found.unwrap(), roaming);
    }

    #[test]
    fn own_files_are_in_the_named_folder_or_in_the_users() {
        let folder = |platform: Platform, variables: Variables<'_>| {
            let lookup = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            data_folder(platform, &lookup).map(|path| path.display().to_string())
        };
        let set = [("XDG_DATA_HOME", "/var/u"), ("HOME", "/users/u")];
        assert_eq!(folder(Platform::Unix, &set).unwrap(), "/var/u/sabir");
        assert_eq!(folder(Platform::Unix, &set[1..]).unwrap(), "/users/u/.local/share/sabir");
        let relative = [("XDG_DATA_HOME", "u"), ("HOME", "/users/u")];
        assert_eq!(folder(Platform::Unix, &relative).unwrap(), "/users/u/.local/share/sabir");
        let named = [("SABIR_DATA_DIR", "mine"), ("HOME", "/users/u")];
        assert_eq!(folder(Platform::Unix, &named).unwrap(), "mine");
        let own = "/users/u/Library/Application Support/sabir";
        assert_eq!(folder(Platform::Macos, &set).unwrap(), own);
        assert_eq!(folder(Platform::Unix, &[("SABIR_DATA_DIR", " ")]), None);
    }
}
