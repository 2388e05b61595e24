//! Characters and bytes of a text, each told by the other without counting from the beginning every time: a text may have
//! as many citations as it has words.

use crate::json::Text;

/// A text that may grow, with how many characters come before every so many bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Characters {
    text: String,
    /// The characters before each stretch of bytes.
    before: Vec<usize>,
}

/// The bytes of a stretch.
const STRETCH: usize = 256;

impl Characters {
    pub(crate) fn push(&mut self, more: &Text<'_>) {
        more.push_content(&mut self.text);
        for stretch in self.text.as_bytes().chunks_exact(STRETCH).skip(self.before.len()) {
            let before = self.before.last().copied().unwrap_or_default();
            self.before.push(before + begun(stretch));
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How many characters begin before a byte.
    pub(crate) fn before(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        let stretches = byte / STRETCH;
        let counted = stretches.checked_sub(1).map_or(0, |last| self.before[last]);
        counted + begun(&self.text.as_bytes()[stretches * STRETCH..byte])
    }

    /// The byte at which a character begins; past the end it is the end.
    pub(crate) fn byte(&self, character: usize) -> usize {
        let stretches = self.before.partition_point(|before| *before <= character);
        let counted = stretches.checked_sub(1).map_or(0, |last| self.before[last]);
        let from = stretches * STRETCH;
        let bytes = self.text.as_bytes()[from..].iter().enumerate();
        let mut begins = bytes.filter(|(_, byte)| is_begin(**byte));
        begins.nth(character - counted).map_or(self.text.len(), |(at, _)| from + at)
    }
}

impl From<&Text<'_>> for Characters {
    fn from(text: &Text<'_>) -> Self {
        let mut characters = Self::default();
        characters.push(text);
        characters
    }
}

fn begun(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| is_begin(**byte)).count()
}

/// Whether a character begins with this byte.
fn is_begin(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_and_bytes_tell_each_other() {
        let text = "aé€😀\n".repeat(200);
        let mut grown = Characters::default();
        text.chars().for_each(|it| grown.push(&Text::plain(it.to_string())));
        for characters in [Characters::from(&Text::plain(text.as_str())), grown] {
            assert_eq!(characters.text(), text);
            for (number, (at, _)) in text.char_indices().enumerate() {
                assert_eq!((characters.before(at), characters.byte(number)), (number, at));
            }
            let (all, past) = (text.chars().count(), text.len() + 9);
            assert_eq!((characters.before(past), characters.byte(all + 9)), (all, text.len()));
        }
    }
}
