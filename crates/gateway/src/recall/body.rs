//! Bodies with some of their members taken out, everything else as it was.

use sabir_wire::json::{Json, Kind, Writer};

use crate::failure::Result;
use crate::members::edited;
use crate::pool;

/// The body without some members.
pub(crate) fn without_members(body: &str, names: &[&str]) -> Result<String> {
    pool::check_thread(body.len());
    Ok(edited(body, |name, value| (!names.contains(&name)).then_some(value))?)
}

/// The body whose list of that name is without the elements that are known already.
pub(super) fn without_known(body: &str, list: &str, known: &Known) -> Result<String> {
    let mut left = Writer::default();
    let mut read = Ok(());
    let edited = edited(body, |name, value| {
        if name != list {
            return Some(value);
        }
        left.clear();
        read = known.leave(&value, &mut left);
        Json::parse(left.as_str().to_owned()).ok()
    })?;
    read?;
    Ok(edited)
}

/// Elements of a list that are known already: so many of the last `entries`.
pub(super) struct Known {
    pub(super) known: usize,
    pub(super) entries: usize,
}

impl Known {
    /// Writes the list without what is known.
    fn leave(&self, list: &Json<'_>, left: &mut Writer) -> sabir_wire::Result<()> {
        left.begin_array();
        if list.kind() == Kind::Array {
            let elements = list.reader().list(|_, reader| reader.raw())?;
            let leading = elements.len().saturating_sub(self.entries);
            for (index, element) in elements.iter().enumerate() {
                if !(leading..leading + self.known).contains(&index) {
                    left.value(element);
                }
            }
        }
        left.end_array();
        Ok(())
    }
}

/// The body with another value for a member, which stands where the old one did.
pub(super) fn with_member(body: &str, name: &str, value: &Json<'static>) -> Result<String> {
    pool::check_thread(body.len());
    Ok(edited(body, |member, own| Some(if member == name { value.clone() } else { own }))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_is_spelled_as_it_was() {
        let body = r#"{"a":1.0,"thread":{"type":"create"},"m":[1,{"x" : 2},3]}"#;
        assert_eq!(without_members(body, &["thread"]).unwrap(), r#"{"a":1.0,"m":[1,{"x" : 2},3]}"#);
        let rest = without_known(body, "m", &Known { known: 1, entries: 2 }).unwrap();
        assert_eq!(rest, r#"{"a":1.0,"thread":{"type":"create"},"m":[1,3]}"#);
    }
}
