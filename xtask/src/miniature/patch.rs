//! The edits that a document shows: fenced `diff` blocks, each behind a line that ends with the path of its file.

use anyhow::{Context, Result, bail, ensure};

/// The edits of one block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) path: String,
    hunks: Vec<Hunk>,
}

/// Lines that stand together before an edit and after it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hunk {
    before: Vec<String>,
    after: Vec<String>,
}

impl Patch {
    /// Every block of a document, in order.
    pub(super) fn all(document: &str) -> Result<Vec<Self>> {
        let mut patches = Vec::new();
        let (mut lines, mut heading) = (document.lines(), "");
        while let Some(line) = lines.next() {
            if line == "```diff" {
                let path = path_in(heading)
                    .with_context(|| format!("no path stands before a diff, but {heading:?}"))?;
                let block = lines.by_ref().take_while(|line| *line != "```");
                patches.push(Self { path: path.to_owned(), hunks: hunks(block)? });
            } else if !line.trim().is_empty() {
                heading = line;
            }
        }
        ensure!(!patches.is_empty(), "the document shows no edits");
        Ok(patches)
    }

    /// The text with all hunks applied, each behind the one before it.
    pub(super) fn apply(&self, text: &str) -> Result<String> {
        let lines: Vec<&str> = text.lines().collect();
        let (mut out, mut from) = (Vec::new(), 0);
        for hunk in &self.hunks {
            let at = hunk.find(&lines, from)?;
            out.extend(lines[from..at].iter().map(|line| (*line).to_owned()));
            out.extend(hunk.after.iter().cloned());
            from = at + hunk.before.len();
        }
        out.extend(lines[from..].iter().map(|line| (*line).to_owned()));
        Ok(out.join("\n") + "\n")
    }
}

impl Hunk {
    /// The only place behind `from` where the lines stand that the hunk begins with.
    fn find(&self, lines: &[&str], from: usize) -> Result<usize> {
        ensure!(self.before != self.after, "a hunk changes nothing:\n{}", self.before.join("\n"));
        let fits = |at: &usize| lines[*at..].iter().zip(&self.before).all(|(a, b)| a == b);
        let last = (lines.len() + 1).saturating_sub(self.before.len());
        let mut places = (from..last).filter(fits);
        match (places.next(), places.next()) {
            (Some(at), None) if !self.before.is_empty() => Ok(at),
            (Some(_), _) => bail!("a hunk fits in several places:\n{}", self.before.join("\n")),
            (None, _) => bail!("a hunk does not fit:\n{}", self.before.join("\n")),
        }
    }
}

/// The path in the last pair of backticks of a heading.
fn path_in(heading: &str) -> Option<&str> {
    let (rest, _) = heading.rsplit_once('`')?;
    rest.rsplit_once('`').map(|(_, path)| path)
}

/// The hunks of a block; a line `@@` parts two of them.
fn hunks<'l>(lines: impl Iterator<Item = &'l str>) -> Result<Vec<Hunk>> {
    let mut hunks = vec![Hunk::default()];
    for line in lines {
        let hunk = hunks.last_mut().context("there is always a hunk")?;
        match (line.get(..1).unwrap_or(" "), line.get(1..).unwrap_or_default().to_owned()) {
            _ if line == "@@" => hunks.push(Hunk::default()),
            ("+", text) => hunk.after.push(text),
            ("-", text) => hunk.before.push(text),
            (" ", text) => {
                hunk.before.push(text.clone());
                hunk.after.push(text);
            }
            _ => bail!("expected a line of a diff, found {line:?}"),
        }
    }
    Ok(hunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# A\n\n`src/a.rs`\n\n```diff\n one\n+two\n@@\n-four\n+4\n```\n";

    fn applied(document: &str, text: &str) -> Result<String> {
        Patch::all(document)?[0].apply(text)
    }

    #[test]
    fn hunks_are_applied_in_order() {
        assert_eq!(Patch::all(DOCUMENT).unwrap()[0].path, "src/a.rs");
        let text = "zero\none\nthree\nfour\n";
        assert_eq!(applied(DOCUMENT, text).unwrap(), "zero\none\ntwo\nthree\n4\n");
    }

    #[test]
    fn a_hunk_that_does_not_fit_is_refused() {
        for text in ["one\n", "four\none\n", "one\nfour!\n", ""] {
            let error = applied(DOCUMENT, text).unwrap_err().to_string();
            assert!(error.starts_with("a hunk does not fit:\n"), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_hunk_that_fits_twice_or_changes_nothing_is_refused() {
        let twice = applied(DOCUMENT, "one\none\nfour\n").unwrap_err().to_string();
        assert_eq!(twice, "a hunk fits in several places:\none");
        let nothing = DOCUMENT.replace("+two\n", "");
        let nothing = applied(&nothing, "one\nfour\n").unwrap_err().to_string();
        assert_eq!(nothing, "a hunk changes nothing:\none");
    }

    #[test]
    fn a_block_needs_a_path_and_lines_of_a_diff() {
        assert!(Patch::all("words\n```diff\n+a\n```\n").is_err());
        assert!(Patch::all("`a`\n```diff\n*a\n```\n").is_err());
        assert!(Patch::all("no edits").is_err());
    }
}
