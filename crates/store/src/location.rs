//! The URL of a store, read: where its data is. What follows `postgres:` is shown to nobody, since it may hold a password.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, Result};

/// The file of `sqlite:` without a path.
const DEFAULT_FILE: &str = "sabir.db";

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Location {
    Memory,
    File(PathBuf),
    /// A folder of sessions.
    Folder(PathBuf),
    Postgres(String),
}

impl Location {
    pub(crate) fn parse(url: &str, data_folder: &Path) -> Result<Self> {
        let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
        match (scheme, rest) {
            ("memory", "") if url.ends_with(':') => Ok(Self::Memory),
            ("sqlite", "") if url.ends_with(':') => Ok(Self::File(data_folder.join(DEFAULT_FILE))),
            ("sqlite", path) if !path.is_empty() => Ok(Self::File(local_path(path))),
            ("files", path) if !path.is_empty() => Ok(Self::Folder(local_path(path))),
            ("postgres" | "postgresql", rest) if rest.starts_with("//") => {
                Ok(Self::Postgres(url.to_owned()))
            }
            _ => Err(unknown(scheme)),
        }
    }
}

impl Location {
    /// Whether nothing has been kept there yet.
    pub(crate) fn is_missing(&self) -> bool {
        match self {
            Self::File(path) | Self::Folder(path) => matches!(path.try_exists(), Ok(false)),
            Self::Memory | Self::Postgres(_) => false,
        }
    }
}

/// `sqlite:PATH`, and the habit of other programs to write `sqlite:///path`; the same with `files:`.
fn local_path(path: &str) -> PathBuf {
    PathBuf::from(path.strip_prefix("//").filter(|path| path.starts_with('/')).unwrap_or(path))
}

fn unknown(scheme: &str) -> Error {
    // Only a word is repeated: whatever else was put there may be secret.
    let is_word = scheme.len() <= 20 && scheme.chars().all(|c| c.is_ascii_alphanumeric());
    let found = if is_word { format!("`{scheme}`") } else { "something else".to_owned() };
    let text = format!(
        "the store's URL must be `sqlite:`, `sqlite:PATH`, `files:FOLDER`, `memory:` or `postgres://…`, and begins with {found}"
    );
    Error::new(Kind::Url, text)
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory:"),
            Self::File(path) => write!(f, "sqlite:{}", path.display()),
            Self::Folder(path) => write!(f, "files:{}", path.display()),
            Self::Postgres(_) => f.write_str("postgres:…"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Location> {
        Location::parse(url, Path::new("data"))
    }

    #[test]
    fn each_form_names_its_place() {
        assert_eq!(parse("memory:").unwrap(), Location::Memory);
        assert_eq!(parse("sqlite:").unwrap(), Location::File("data/sabir.db".into()));
        assert_eq!(parse("sqlite:a/b.db").unwrap(), Location::File("a/b.db".into()));
        assert_eq!(parse("sqlite:///a/b.db").unwrap(), Location::File("/a/b.db".into()));
        assert_eq!(parse("files:a/b").unwrap(), Location::Folder("a/b".into()));
        assert!(matches!(parse("postgres://h/db").unwrap(), Location::Postgres(_)));
        assert!(matches!(parse("postgresql://h/db").unwrap(), Location::Postgres(_)));
    }

    #[test]
    fn anything_else_is_refused_and_no_secret_is_repeated() {
        for url in [
            "",
            "sqlite",
            "files",
            "files:",
            "memory",
            "memory:x",
            "postgres:db",
            "mysql://u:hunter2@h/db",
        ] {
            let error = parse(url).unwrap_err();
            assert_eq!(error.kind(), Kind::Url, "{url}");
            assert!(!error.to_string().contains("hunter2"));
        }
        assert!(!parse("u:hunter2 sqlite:").unwrap_err().to_string().contains("hunter2"));
    }

    #[test]
    fn debug_output_hides_the_password() {
        let shown = format!("{:?}", parse("postgres://u:hunter2@h/db").unwrap());
        assert!(!shown.contains("hunter2"));
    }
}
