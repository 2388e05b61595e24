//! What a first reading of a text found out, so that a second one has less to look for.

use std::fmt;

use super::reader::Reader;
use super::special;
use super::string::{Escapes, StringBody, Strings, Unseen};
use crate::error::Result;

/// A text, and where the long strings in it end that have been passed, and the outermost containers with what they hold.
#[derive(Clone)]
pub struct Survey<'a> {
    source: &'a str,
    /// By their beginnings.
    ends: Vec<End>,
    nodes: usize,
}

/// Where a string ends, from its first byte behind the quote to the quote; or a container, brackets included.
#[derive(Clone, Copy)]
pub(super) struct End {
    start: u32,
    end: u32,
    escapes: Escapes,
}

/// Says how much is known, never of what.
impl fmt::Debug for Survey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Survey({} values in {} bytes)", self.ends.len(), self.source.len())
    }
}

impl<'a> Survey<'a> {
    /// Nothing is known yet.
    pub fn new(source: &'a str) -> Self {
        Self::counted(source, 0)
    }

    /// Nothing is known but the number of nodes.
    pub fn counted(source: &'a str, nodes: usize) -> Self {
        Self { source, ends: Vec::new(), nodes }
    }

    /// How many members, and strings and containers in lists, were passed where a request can have its messages, parts and
    /// tools; each takes memory of its own when it is decoded.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Counts a member whose value is not surveyed, or has nothing in it that a survey counts.
    pub fn count_member(&mut self) {
        self.nodes += 1;
    }

    /// The text itself.
    pub fn source(&self) -> &'a str {
        self.source
    }

    pub(super) fn ends(&self) -> &[End] {
        &self.ends
    }
}

impl<'a> Reader<'a> {
    /// Passes over the next value like [`Reader::skip`], and notes what is worth knowing when it is read again. A survey
    /// of another text learns nothing.
    pub fn survey(&mut self, survey: &mut Survey<'a>) -> Result<()> {
        match std::ptr::eq(self.source(), survey.source) {
            true => self.skip_by(&mut Noting::new(survey)),
            false => self.skip(),
        }
    }
}

/// Looks, and notes what it finds.
struct Noting<'s> {
    ends: &'s mut Vec<End>,
    nodes: &'s mut usize,
    /// Which of the ends are those of the containers that are open, by their depth.
    open: [Option<usize>; CONTAINERS_DEPTH_MAX + 1],
}

/// How deep a request can have members of its own: those of the function of a call. What lies deeper is kept as it is.
const MEMBERS_DEPTH_MAX: usize = 6;

/// How deep a request can have lists of its own: the parts of a result, which is a part of a message.
const ELEMENTS_DEPTH_MAX: usize = 7;

/// How deep containers are noted: the members of a request, and what their lists hold.
const CONTAINERS_DEPTH_MAX: usize = 2;

/// Passing over a shorter container costs little more than to know where it ends.
const CONTAINER_BYTES_MIN: usize = 128;

impl<'s> Noting<'s> {
    fn new(survey: &'s mut Survey<'_>) -> Self {
        let Survey { ends, nodes, .. } = survey;
        Self { ends, nodes, open: [None; CONTAINERS_DEPTH_MAX + 1] }
    }
}

impl Strings for Noting<'_> {
    #[inline(never)]
    fn long(&mut self, bytes: &[u8], start: usize, at: usize) -> Result<StringBody> {
        let body = Unseen.long(bytes, start, at)?;
        if body.end - start >= special::LONG_BYTES_MIN
            && let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(body.end))
            && self.ends.last().is_none_or(|last| last.start < start)
        {
            self.ends.push(End { start, end, escapes: body.escapes });
        }
        Ok(body)
    }

    #[inline]
    fn member(&mut self, depth: usize) {
        *self.nodes += usize::from(depth <= MEMBERS_DEPTH_MAX);
    }

    #[inline]
    fn element(&mut self, depth: usize) {
        *self.nodes += usize::from(depth <= ELEMENTS_DEPTH_MAX);
    }

    #[inline]
    fn opens(&mut self, depth: usize, at: usize) {
        if let Some(open) = self.open.get_mut(depth) {
            let start = u32::try_from(at).ok();
            let start = start.filter(|start| self.ends.last().is_none_or(|it| it.start < *start));
            *open = start.map(|start| {
                self.ends.push(End { start, end: start, escapes: Escapes::Absent });
                self.ends.len() - 1
            });
        }
    }

    #[inline]
    fn closed(&mut self, depth: usize, at: usize) {
        let Some(index) = self.open.get_mut(depth).and_then(Option::take) else { return };
        let noted = self.ends.get_mut(index).zip(u32::try_from(at).ok());
        match noted {
            Some((noted, end)) if at - noted.start as usize >= CONTAINER_BYTES_MIN => {
                noted.end = end;
            }
            // The few strings in it keep their places.
            _ => drop(self.ends.remove(index)),
        }
    }
}

/// Knows the ends of strings, and looks where it does not.
#[derive(Clone)]
pub(super) struct Knowing<'a> {
    /// Those that may come next.
    ends: &'a [End],
}

impl<'a> Knowing<'a> {
    pub(super) const NOTHING: Self = Self { ends: &[] };

    pub(super) fn new(ends: &'a [End]) -> Self {
        Self { ends }
    }

    /// The string whose body starts at `start`, if it was seen before. Values are asked for in their order.
    #[inline]
    pub(super) fn body(&mut self, start: usize) -> Option<StringBody> {
        let next = self.from(start)?;
        Some(StringBody { end: next.end as usize, escapes: next.escapes })
    }

    /// The index behind the container that begins at `start`, if it was seen before.
    #[inline]
    pub(super) fn container(&mut self, start: usize) -> Option<usize> {
        // One that has no end was never passed.
        self.from(start).map(|next| next.end as usize).filter(|end| *end > start)
    }

    #[inline]
    fn from(&mut self, start: usize) -> Option<&'a End> {
        while let Some((next, behind)) = self.ends.split_first()
            && (next.start as usize) < start
        {
            self.ends = behind;
        }
        self.ends.first().filter(|next| next.start as usize == start)
    }
}

impl Strings for Knowing<'_> {
    #[inline(never)]
    fn long(&mut self, bytes: &[u8], start: usize, at: usize) -> Result<StringBody> {
        match self.body(start) {
            Some(body) => Ok(body),
            None => Unseen.long(bytes, start, at),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{document, nearly_json};
    use super::*;
    use crate::json::{Json, Kind};

    fn surveyed(text: &str) -> Survey<'_> {
        let mut survey = Survey::new(text);
        let _ = Reader::new(text).survey(&mut survey);
        survey
    }

    /// Every value of a text: its strings, and the containers around them unread.
    fn values<'a>(reader: &mut Reader<'a>, found: &mut Vec<String>) -> Result<()> {
        match reader.kind()? {
            Kind::String => found.push(reader.string()?.json_body().into_owned()),
            Kind::Array => {
                found.push(reader.checkpoint().raw()?.as_str().to_owned());
                reader.array(|_, reader| values(reader, found))?;
            }
            Kind::Object => {
                found.push(reader.checkpoint().raw()?.as_str().to_owned());
                reader.object(|key, reader| {
                    found.push(key.into_owned());
                    values(reader, found)
                })?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    }

    fn all_values(mut reader: Reader<'_>) -> Result<Vec<String>> {
        let mut found = Vec::new();
        values(&mut reader, &mut found)?;
        reader.finish()?;
        Ok(found)
    }

    /// Strings of all lengths around what counts as long, with escapes and without.
    fn strings() -> impl Strategy<Value = String> {
        let text = prop_oneof!["[a-z]{0,70}", "[a-zü\"\n\\\\]{0,70}", "[a-z]{33,40}\n[a-z]{0,40}"];
        proptest::collection::vec(text, 0..12).prop_map(|texts| {
            let nested: Vec<_> = texts.chunks(3).collect();
            serde_json::to_string(&nested).unwrap()
        })
    }

    proptest! {
        #[test]
        fn a_surveyed_text_reads_as_one_that_is_not(text in prop_oneof![strings(), document().prop_map(|json| json.to_string())]) {
            let survey = surveyed(&text);
            prop_assert_eq!(all_values(Reader::surveyed(&survey)), all_values(Reader::new(&text)));
            let raw = Reader::surveyed(&survey).raw().map(|json| json.as_str().to_owned());
            prop_assert_eq!(raw, Ok(text.clone()));
        }

        #[test]
        fn what_is_wrong_is_found_at_the_first_reading(bytes in nearly_json()) {
            let Ok(text) = std::str::from_utf8(&bytes) else { return Ok(()) };
            let mut survey = Survey::new(text);
            let outcome = Reader::new(text).survey(&mut survey);
            prop_assert_eq!(outcome, Reader::new(text).skip());
            prop_assert_eq!(all_values(Reader::surveyed(&survey)), all_values(Reader::new(text)));
        }
    }

    #[test]
    fn long_strings_are_noted_once_and_short_ones_never() {
        let text = format!(
            r#"["{}","{}\n","short",{{"{}":"\"short"}}]"#,
            "a".repeat(40),
            "b".repeat(40),
            "c".repeat(32)
        );
        let mut survey = surveyed(&text);
        // The list around them is long as well.
        assert_eq!(survey.ends().len(), 1 + 3);
        Reader::new(&text).survey(&mut survey).unwrap();
        assert_eq!(survey.ends().len(), 1 + 3);
    }

    #[test]
    fn members_and_what_their_lists_hold_are_noted_if_they_are_long() {
        let element = format!(r#"{{"a":[{}1]}}"#, "1,".repeat(80));
        let text = format!(r#"{{"list":[{{"short":"{}"}},{element},[]]}}"#, "s".repeat(40));
        let survey = surveyed(&text);
        // The whole, the list, the string in a short element, and the long element.
        let starts = [0, 8, 19, text.find(&element).unwrap()];
        assert_eq!(survey.ends().iter().map(|it| it.start as usize).collect::<Vec<_>>(), starts);
        let mut elements = Vec::new();
        let _ = Reader::surveyed(&survey).object(|_, list| {
            list.array(|_, reader| {
                elements.push(reader.raw()?.as_str().len());
                Ok(())
            })
        });
        assert_eq!(elements, [52, element.len(), 2]);
    }

    #[test]
    fn a_survey_of_another_text_learns_nothing() {
        let (text, other) = (format!("\"{}\"", "a".repeat(40)), "null".to_owned());
        let mut survey = Survey::new(&other);
        Reader::new(&text).survey(&mut survey).unwrap();
        assert!(survey.ends().is_empty());
        assert_eq!(Reader::surveyed(&survey).raw().unwrap(), Json::parse(other.clone()).unwrap());
    }

    #[test]
    fn nodes_are_counted_where_requests_have_them() {
        let text = r#"{"messages":[{"role":"user","content":[{"text":"{\"a\":1}"}]}],"stop":["a"],"n":[1,2]}"#;
        // The whole, six keys, a message, a part and a stop sequence.
        assert_eq!(surveyed(text).nodes(), 10);
        assert_eq!(surveyed(&format!("{}{}", "[".repeat(90), "]".repeat(90))).nodes(), 8);
    }
}
