//! The settings of hosted tools: which of them another vendor's tool of the same sort has as well, and under what name
//! each protocol has them. What nobody takes over is reported.

use crate::conversation::HostedTool;
use crate::json::{Json, Kind, Writer, push_key};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::reporter::Reporter;

/// A setting that the hosted tools of more than one vendor have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    AllowedDomains,
    BlockedDomains,
    /// Where the user is: an object of `city`, `country`, `region` and `timezone`.
    UserLocation,
    MaxUses,
    /// How much of the context a search may take.
    ContextSize,
    /// Only the vendor has it, or only a server of its protocol.
    Own,
    /// It states a default.
    Usual,
}

/// The settings of one tool that are still to be carried over.
#[derive(Debug, Default)]
pub(super) struct Settings<'t> {
    found: Vec<Found<'t>>,
}

/// A setting and where it stands below its tool.
#[derive(Debug)]
struct Found<'t> {
    setting: Setting,
    pointer: String,
    json: Json<'t>,
}

impl<'t> Settings<'t> {
    pub(super) fn of(tool: &'t HostedTool<'_>) -> Self {
        let mut settings = Self::default();
        settings.read(&tool.json, &mut prefix(tool));
        settings
    }

    /// The value of a setting, which counts as carried over from now on.
    pub(super) fn take(&mut self, setting: Setting) -> Option<Json<'t>> {
        let index = self.found.iter().position(|found| found.setting == setting)?;
        Some(self.found.remove(index).json)
    }

    /// Reports the settings that nothing has taken.
    pub(super) fn report_rest(self, place: Place, reporter: &mut Reporter<'_>) {
        for Found { setting, pointer, json } in self.found {
            let is_medium = setting == Setting::ContextSize && json.as_str() == r#""medium""#;
            let (kind, reason) = match setting == Setting::Usual || is_medium {
                true => (LossKind::Implied, "the tool of the other vendor does so anyway"),
                false => (LossKind::Dropped, "the tool of the other vendor has no such setting"),
            };
            reporter.below(place, &pointer, kind, reason);
        }
    }

    /// Reads the members of an object that stands at `path`; whatever else it is has no settings.
    fn read(&mut self, json: &Json<'_>, path: &mut String) {
        // The JSON was checked when it was read, so that only another kind of value ends here.
        let _ = json.reader().object(|key, reader| {
            let value = reader.raw()?;
            let before = path.len();
            push_key(path, &key);
            self.member(&key, &value, path);
            path.truncate(before);
            Ok(())
        });
    }

    fn member(&mut self, key: &str, value: &Json<'_>, path: &mut String) {
        let is_object = value.kind() == Kind::Object;
        match key {
            _ if matches!(&*value.compact(), "null" | "[]" | "{}") => {}
            "type" | "name" => {}
            "filters" | "container" if is_object => self.read(value, path),
            "user_location" if is_object => self.location(value, path),
            _ => self.keep(known(key, value), value, path),
        }
    }

    /// Chat has the place in an object of its own inside the location.
    fn location(&mut self, value: &Json<'_>, path: &mut String) {
        let mut inner = None;
        let _ = value.reader().object(|key, reader| {
            let value = reader.raw()?;
            match (&*key, value.kind()) {
                ("approximate", Kind::Object) => inner = Some(value.into_owned()),
                ("type", _) | (_, Kind::Null) => {}
                (key, Kind::String) if LOCATION.contains(&key) => {}
                (key, _) => {
                    let before = path.len();
                    push_key(path, key);
                    self.keep(Setting::Own, &value, path);
                    path.truncate(before);
                }
            }
            Ok(())
        });
        self.keep(Setting::UserLocation, inner.as_ref().unwrap_or(value), path);
    }

    fn keep(&mut self, setting: Setting, json: &Json<'_>, path: &str) {
        let json = json.clone().into_owned();
        self.found.push(Found { setting, pointer: path.to_owned(), json });
    }
}

/// Writes where the user is as members of an object.
pub(super) fn write_location(writer: &mut Writer, location: &Json<'_>) {
    for key in LOCATION {
        if let Some(text) = location.reader().peek_tag(key).ok().flatten() {
            writer.field(key, &text);
        }
    }
}

/// The members of a location that every vendor knows.
const LOCATION: [&str; 4] = ["city", "country", "region", "timezone"];

/// Gemini's tools are the members of an object. Those in the usual spelling know their place in it.
fn prefix(tool: &HostedTool<'_>) -> String {
    let mut path = String::new();
    if tool.kind.to_str().starts_with("google_") {
        push_key(&mut path, &tool.kind.to_str());
    }
    path
}

/// The setting that a member of a tool is, in whatever protocol: no name means two things.
fn known(key: &str, value: &Json<'_>) -> Setting {
    match (key, &*value.compact()) {
        ("allowed_domains", _) => Setting::AllowedDomains,
        ("blocked_domains" | "excluded_domains" | "excludeDomains" | "exclude_domains", _) => {
            Setting::BlockedDomains
        }
        ("max_uses", _) => Setting::MaxUses,
        ("search_context_size", _) => Setting::ContextSize,
        ("external_web_access", "true")
        | ("strict" | "defer_loading", "false")
        | ("allowed_callers", r#"["direct"]"#)
        | ("searchTypes", r#"{"webSearch":{}}"#)
        | ("search_types", r#"{"web_search":{}}"#) => Setting::Usual,
        _ => Setting::Own,
    }
}
