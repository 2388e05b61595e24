//! Reading a table of the file key by key, noting what is unknown or of the wrong type.
//! What a value means is left to whoever asks for it.

use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::keys::Keys;
use crate::config::problem::Collector;
use crate::config::suggest::{listed, nearest, suggestion};
use crate::config::{keys, quantity};

/// A table of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section<'a, 'i> {
    table: &'a DeTable<'i>,
    keys: Keys,
    /// Where the table begins, for problems with what it lacks.
    pub(super) at: usize,
}

/// A key of the file with its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a, 'i> {
    pub(super) key: &'a str,
    value: &'a DeValue<'i>,
    /// Where the value begins.
    pub(super) at: usize,
}

impl<'a, 'i> Section<'a, 'i> {
    /// Opens a table, noting every key that it should not have.
    pub(super) fn open(
        table: &'a Spanned<DeTable<'i>>,
        keys: Keys,
        problems: &mut Collector<'_>,
    ) -> Self {
        let section = Self { table: table.get_ref(), keys, at: table.span().start };
        section.note_unknown(problems);
        section
    }

    fn note_unknown(&self, problems: &mut Collector<'_>) {
        for key in self.table.keys() {
            let name: &str = key.get_ref();
            if self.keys.names.contains(&name) {
                continue;
            }
            problems.add(key.span().start, self.unknown(name));
        }
    }

    fn unknown(&self, name: &str) -> String {
        let (shown, table) = (shortened(name), self.keys.table);
        let elsewhere = keys::ALL.iter().find(|keys| keys.names.contains(&name));
        match elsewhere.filter(|_| nearest(name, self.keys.names).is_none()) {
            Some(keys) => format!("unknown key `{shown}` in {table}; it belongs to {}", keys.table),
            None => {
                let hint = suggestion(name, self.keys.names.iter().copied());
                format!("unknown key `{shown}` in {table}{hint}")
            }
        }
    }

    pub(super) fn item(&self, key: &'static str) -> Option<Item<'a, 'i>> {
        debug_assert!(self.keys.names.contains(&key), "{key} is in the table of known keys");
        let value = self.table.get(key)?;
        Some(Item { key, value: value.get_ref(), at: value.span().start })
    }

    /// Whether a key stands here, known or not.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Notes every key that the table may have, but not beside the others that it has.
    pub(super) fn note_others(
        &self,
        fitting: &[&[&str]],
        predicate: &str,
        problems: &mut Collector<'_>,
    ) {
        for key in self.table.keys() {
            let name: &str = key.get_ref();
            let fits = fitting.iter().any(|names| names.contains(&name));
            if self.keys.names.contains(&name) && !fits {
                problems.add(key.span().start, format!("`{name}` {predicate}"));
            }
        }
    }

    pub(super) fn lacks(&self, what: &str, problems: &mut Collector<'_>) {
        problems.add(self.at, format!("{} needs {what}", self.keys.table));
    }

    pub(super) fn bool(&self, key: &'static str, problems: &mut Collector<'_>) -> Option<bool> {
        self.item(key)?.bool(problems)
    }

    pub(super) fn duration(
        &self,
        key: &'static str,
        problems: &mut Collector<'_>,
    ) -> Option<Duration> {
        self.item(key)?.duration(problems)
    }

    /// A duration that would never let anything happen if it were zero.
    pub(super) fn positive_duration(
        &self,
        key: &'static str,
        problems: &mut Collector<'_>,
    ) -> Option<Duration> {
        let item = self.item(key)?;
        let duration = item.duration(problems)?;
        if duration.is_zero() {
            item.wrong("must be longer than nothing", problems);
        }
        Some(duration)
    }
}

impl<'a, 'i> Item<'a, 'i> {
    /// Notes that the value should be something else; the value itself is not quoted, it may be a secret.
    pub(super) fn expected(&self, what: &str, problems: &mut Collector<'_>) {
        let found = self.value.type_str();
        let article = if found.starts_with(['a', 'i']) { "an" } else { "a" };
        problems.add(self.at, format!("`{}` must be {what}, found {article} {found}", self.key));
    }

    /// Notes what is wrong with the value, in words that follow the key: `is empty`.
    pub(super) fn wrong(&self, predicate: impl AsRef<str>, problems: &mut Collector<'_>) {
        problems.add(self.at, format!("`{}` {}", self.key, predicate.as_ref()));
    }

    /// Notes what is wrong with the value, in a sentence of its own.
    pub(super) fn remark(&self, message: impl AsRef<str>, problems: &mut Collector<'_>) {
        problems.add(self.at, format!("`{}`: {}", self.key, message.as_ref()));
    }

    pub(super) fn as_string(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    pub(super) fn string(&self, problems: &mut Collector<'_>) -> Option<&'a str> {
        match self.value.as_str() {
            Some(text) if !text.trim().is_empty() => return Some(text),
            Some(_) => self.wrong("is empty", problems),
            None => self.expected("a string", problems),
        }
        None
    }

    pub(super) fn bool(&self, problems: &mut Collector<'_>) -> Option<bool> {
        let value = self.value.as_bool();
        if value.is_none() {
            self.expected("true or false", problems);
        }
        value
    }

    /// A whole number of at least `least`.
    pub(super) fn number(&self, least: u64, problems: &mut Collector<'_>) -> Option<u64> {
        let number = self.integer();
        match number {
            Some(number) if number >= least => return Some(number),
            _ if self.value.is_integer() => {
                self.wrong(format!("must be a whole number of at least {least}"), problems);
            }
            _ => self.expected("a whole number", problems),
        }
        None
    }

    fn integer(&self) -> Option<u64> {
        let integer = self.value.as_integer()?;
        let digits = integer.as_str().trim_start_matches('+');
        u64::from_str_radix(digits, integer.radix()).ok()
    }

    /// A part of something, such as `0.7`, in thousandths.
    pub(super) fn thousandths(&self, problems: &mut Collector<'_>) -> Option<u16> {
        let number = match (self.value.as_float(), self.integer()) {
            (Some(float), _) => float.as_str().replace('_', "").parse().ok(),
            (None, Some(integer)) => Some(integer as f64),
            (None, None) => None,
        };
        match number.map(|number: f64| (number * 1_000.0).round()) {
            Some(thousandths @ 1.0..=1_000.0) => return Some(thousandths as u16),
            _ => self.wrong("must be a number over 0 and at most 1, such as 0.7", problems),
        }
        None
    }

    pub(super) fn duration(&self, problems: &mut Collector<'_>) -> Option<Duration> {
        let duration = self.value.as_str().and_then(quantity::parse_duration);
        if duration.is_none() {
            self.not_a(quantity::DURATION_FORM, problems);
        }
        duration
    }

    pub(super) fn size(&self, problems: &mut Collector<'_>) -> Option<usize> {
        let size = match self.value.as_str() {
            Some(text) => quantity::parse_size(text),
            None => self.integer().and_then(|bytes| usize::try_from(bytes).ok()),
        };
        match size {
            Some(0) => self.wrong("must be more than nothing", problems),
            Some(_) => return size,
            None => self.not_a(quantity::SIZE_FORM, problems),
        }
        None
    }

    /// Notes that the value is not of a form that can be quoted back safely.
    pub(super) fn not_a(&self, form: &str, problems: &mut Collector<'_>) {
        match self.value.as_str() {
            Some(text) => {
                self.remark(format!("`{}` is not {form}", shortened(text)), problems);
            }
            None => self.expected(form, problems),
        }
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(
        &self,
        choices: &[(&'static str, T)],
        problems: &mut Collector<'_>,
    ) -> Option<T> {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let Some(text) = self.value.as_str() else {
            self.expected(&listed(&names), problems);
            return None;
        };
        let found = choices.iter().find(|(name, _)| *name == text);
        if found.is_none() {
            let hint = suggestion(text, names);
            self.remark(format!("unknown value `{}`{hint}", shortened(text)), problems);
        }
        found.map(|(_, value)| *value)
    }

    /// The elements of a list.
    pub(super) fn list(&self, problems: &mut Collector<'_>) -> Option<Vec<Item<'a, 'i>>> {
        let list = self.elements();
        if list.is_none() {
            self.expected("a list", problems);
        }
        list
    }

    pub(super) fn elements(&self) -> Option<Vec<Item<'a, 'i>>> {
        let array = self.value.as_array()?;
        let item = |it: &'a Spanned<DeValue<'i>>| Item {
            value: it.get_ref(),
            at: it.span().start,
            ..*self
        };
        Some(array.iter().map(item).collect())
    }

    pub(super) fn strings(&self, problems: &mut Collector<'_>) -> Vec<(&'a str, Self)> {
        let items = self.list(problems).unwrap_or_default();
        items.into_iter().filter_map(|item| Some((item.string(problems)?, item))).collect()
    }

    /// The table's own keys, where they are the user's to choose.
    pub(super) fn entries(&self) -> Option<Vec<Item<'a, 'i>>> {
        let table = self.value.as_table()?;
        let entries = table.iter().map(|(key, value)| Item {
            key: key.get_ref(),
            value: value.get_ref(),
            at: value.span().start,
        });
        Some(entries.collect())
    }

    /// The value as a table with these keys.
    pub(super) fn section(
        &self,
        keys: Keys,
        problems: &mut Collector<'_>,
    ) -> Option<Section<'a, 'i>> {
        let Some(table) = self.value.as_table() else {
            let names = keys.names.join("`, `");
            self.expected(&format!("a table with `{names}`"), problems);
            return None;
        };
        let section = Section { table, keys, at: self.at };
        section.note_unknown(problems);
        Some(section)
    }

    /// The value as a list of tables with these keys.
    pub(super) fn sections(
        &self,
        keys: Keys,
        problems: &mut Collector<'_>,
    ) -> Vec<Section<'a, 'i>> {
        let Some(items) = self.elements() else {
            self.expected(&format!("a list of tables, each under {}", keys.table), problems);
            return Vec::new();
        };
        items.iter().filter_map(|item| item.section(keys, problems)).collect()
    }
}

/// A word as messages quote it: no longer than helps, and harmless to a terminal.
pub(super) fn shortened(word: &str) -> String {
    const QUOTED_MAX: usize = 60;
    let mut quoted: String = word.chars().take(QUOTED_MAX).flat_map(printable).collect();
    if word.chars().nth(QUOTED_MAX).is_some() {
        quoted.push('…');
    }
    quoted
}

fn printable(character: char) -> impl Iterator<Item = char> {
    let escaped = character.is_control().then(|| character.escape_default());
    let plain = (!character.is_control()).then_some(character);
    escaped.into_iter().flatten().chain(plain)
}
