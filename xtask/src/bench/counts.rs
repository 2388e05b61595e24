//! Instruction counts of the benchmark's cases: they do not depend on what else the machine does, so a slow-down of a few
//! per cent shows.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, ensure};

/// How often a case runs; the mean evens out hash seeds.
const RUNS: u64 = 3;
/// How much more than on record is still the same, in per cent.
const TOLERANCE: u64 = 5;
/// How much more a byte of a large body may cost than one of a small body, in per cent.
const UNEVEN: u64 = 30;

/// The counts of all cases, in the order of the benchmark.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Counts(Vec<Count>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Count {
    name: String,
    /// The bytes that go in.
    bytes: u64,
    instructions: u64,
}

impl Counts {
    /// Runs every case under a tool that counts.
    pub(super) fn measure(binary: &Path) -> Result<Self> {
        let output = Command::new(binary).arg("list").output().context("cannot list the cases")?;
        ensure!(output.status.success(), "cannot list the cases");
        let cases = Self::parse_lines(&String::from_utf8_lossy(&output.stdout), |line| {
            let (name, bytes) = line.split_once('\t')?;
            Some(Count { name: name.to_owned(), bytes: bytes.parse().ok()?, instructions: 0 })
        })?;
        count_all(binary, cases).map(Self)
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        Self::parse_lines(&rows.join("\n"), |line| {
            let [instructions, bytes, name] =
                line.split_whitespace().collect::<Vec<_>>().try_into().ok()?;
            let instructions = instructions.parse().ok()?;
            Some(Count { name: name.to_owned(), bytes: bytes.parse().ok()?, instructions })
        })
        .map(Self)
    }

    fn parse_lines(text: &str, parse: impl Fn(&str) -> Option<Count>) -> Result<Vec<Count>> {
        text.lines()
            .map(|line| parse(line).with_context(|| format!("not a line of counts: {line}")))
            .collect()
    }

    pub(super) fn render(&self) -> String {
        let mut text = String::from(
            "# Instructions per run of each case, by valgrind; written by `cargo xtask bench wire --record`.\n\
             # instructions      bytes  case\n",
        );
        for Count { name, bytes, instructions } in &self.0 {
            text.push_str(&format!("{instructions:>14} {bytes:>10}  {name}\n"));
        }
        text
    }

    /// What takes more instructions than on record, or has none on record.
    pub(super) fn slower_than(&self, recorded: &Self) -> Vec<String> {
        let compare = |count: &Count| match recorded.find(&count.name) {
            None => Some(format!("{}: no count on record", count.name)),
            Some(old) if count.instructions * 100 > old.instructions * (100 + TOLERANCE) => {
                Some(change("slower", old, count))
            }
            Some(_) => None,
        };
        self.0.iter().filter_map(compare).collect()
    }

    /// What takes fewer instructions than on record, so that the record should be renewed.
    pub(super) fn faster_than(&self, recorded: &Self) -> Vec<String> {
        let is_faster = |old: &&Count, count: &Count| {
            count.instructions * (100 + TOLERANCE) < old.instructions * 100
        };
        let compare = |count: &Count| {
            let old = recorded.find(&count.name).filter(|old| is_faster(old, count))?;
            Some(change("faster", old, count))
        };
        self.0.iter().filter_map(compare).collect()
    }

    /// What each case takes more than the one that differs in the first part of its name alone and has `base` there.
    pub(super) fn beside(&self, base: &str) -> Vec<String> {
        let compare = |count: &Count| {
            let (_, rest) = count.name.split_once('/')?;
            let plain = self.find(&format!("{base}/{rest}"))?;
            (plain != count).then(|| change("beside", plain, count))
        };
        self.0.iter().filter_map(compare).collect()
    }

    /// Where a byte of a larger body costs more than one of the body of 20 KB.
    pub(super) fn uneven(&self) -> Vec<String> {
        let compare = |count: &Count| {
            let (row, size) = count.name.rsplit_once('/')?;
            let base = self.find(&format!("{row}/20KB"))?;
            let limit = base.instructions * count.bytes * (100 + UNEVEN);
            let is_uneven = count.instructions * base.bytes * 100 > limit;
            let is_larger = matches!(size, "200KB" | "2MB");
            (is_larger && is_uneven).then(|| {
                let [small, large] = [base, count].map(Count::per_byte);
                format!("{}: {large:.2} instructions per byte, {small:.2} at 20 KB", count.name)
            })
        };
        self.0.iter().filter_map(compare).collect()
    }

    fn find(&self, name: &str) -> Option<&Count> {
        self.0.iter().find(|count| count.name == name)
    }
}

impl Count {
    fn per_byte(&self) -> f64 {
        self.instructions as f64 / self.bytes as f64
    }
}

fn change(word: &str, old: &Count, new: &Count) -> String {
    let per_cent = (new.instructions as f64 / old.instructions as f64 - 1.0) * 100.0;
    let Count { name, instructions, .. } = new;
    format!("{name}: {word}, {per_cent:+.1} % ({} → {instructions})", old.instructions)
}

/// Counts on all cores; a case that cannot run is an error, since its count would be no count.
fn count_all(binary: &Path, mut cases: Vec<Count>) -> Result<Vec<Count>> {
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let counted: Vec<(usize, Result<u64>)> = thread::scope(|scope| {
        let work = || {
            let mut counted = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(case) = cases.get(index) else { return counted };
                counted.push((index, count(binary, &case.name)));
            }
        };
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        handles.into_iter().flat_map(|handle| handle.join().unwrap_or_default()).collect()
    });
    for (index, instructions) in counted {
        cases[index].instructions = instructions?;
    }
    Ok(cases)
}

/// The instructions of one run, without those that prepare it.
fn count(binary: &Path, name: &str) -> Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*counted*"])
        .arg(binary)
        .args(["run", name, &RUNS.to_string()])
        .output()
        .context("cannot run valgrind, which counts the instructions")?;
    ensure!(output.status.success(), "{name} failed");
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split_once("Collected : "));
    let (_, total) = collected.context("valgrind did not say what it counted")?;
    Ok(total.trim().parse::<u64>().context("valgrind's count is no number")? / RUNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rows: &[(&str, u64, u64)]) -> Counts {
        let count = |(name, bytes, instructions): &(&str, u64, u64)| Count {
            name: (*name).to_owned(),
            bytes: *bytes,
            instructions: *instructions,
        };
        Counts(rows.iter().map(count).collect())
    }

    #[test]
    fn what_is_written_reads_back() {
        let counts = counts(&[("request/a→b/20KB", 20_000, 123_456), ("model/a/2MB", 2, 1)]);
        assert_eq!(Counts::parse(&counts.render()).unwrap(), counts);
    }

    #[test]
    fn a_line_that_is_no_count_is_refused() {
        assert!(Counts::parse("12 many request/a→b/1KB\n").is_err());
    }

    #[test]
    fn only_a_slow_down_beyond_the_tolerance_is_found() {
        let old = counts(&[("a", 10, 1_000), ("b", 10, 1_000), ("c", 10, 1_000)]);
        let new = counts(&[("a", 10, 1_050), ("b", 10, 1_051), ("c", 10, 900), ("d", 10, 1)]);
        let slower = ["b: slower, +5.1 % (1000 → 1051)", "d: no count on record"];
        assert_eq!(new.slower_than(&old), slower);
        assert_eq!(new.faster_than(&old), ["c: faster, -10.0 % (1000 → 900)"]);
    }

    #[test]
    fn cases_are_held_against_their_plain_twins() {
        let counts =
            counts(&[("plain/a/1KB", 1, 1_000), ("ruled/a/1KB", 1, 1_100), ("ruled/b/1KB", 1, 9)]);
        assert_eq!(counts.beside("plain"), ["ruled/a/1KB: beside, +10.0 % (1000 → 1100)"]);
    }

    #[test]
    fn bytes_of_large_bodies_may_cost_little_more() {
        let even = counts(&[("a/20KB", 20, 100), ("a/200KB", 200, 1_300), ("a/1KB", 1, 50)]);
        assert!(even.uneven().is_empty());
        let uneven = counts(&[("a/20KB", 20, 100), ("a/2MB", 2_000, 13_001)]);
        assert_eq!(uneven.uneven(), ["a/2MB: 6.50 instructions per byte, 5.00 at 20 KB"]);
    }
}
