//! Holds the work of translations to the length of their inputs: every long input of the testkit is translated at n and at
//! 2n elements under a tool that counts instructions, and twice the elements may cost little more than twice the work.
//! The targets take turns; `all` counts every input for every target. Two planted loops are counted first, so that a run without
//! findings comes from a check that can find something.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, process, thread};

use anyhow::{Context, Result, bail, ensure};

/// How many elements the shorter input of a case has, and what twice as many may cost, in hundredths of what they cost once.
/// Little work shows who is suspect: a constant or a limit may look like growth, or hide some. Whoever is suspect is
/// measured at the next length, and what the last one shows is a finding. The longest is for cases whose work grows faster
/// behind a fixed number of elements, such as metadata beyond the labels that a request may have.
const STAGES: [(usize, u64); 3] = [(48, 212), (200, 220), (800, RATIO_MAX)];
const RATIO_MAX: u64 = 220;

/// One case at both lengths, in instructions.
struct Measured {
    name: String,
    once: u64,
    twice: u64,
    /// Why it was not translated, if it was not.
    refused: String,
}

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let part = match arguments {
        [] => "",
        [part] => part,
        _ => bail!("expected `all`, a part of the names of cases, or nothing"),
    };
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("valgrind is not installed: the work of long translations is not counted");
        return Ok(ExitCode::SUCCESS);
    }
    let binary = build()?;
    check_judge(&binary)?;
    let [(elements, ratio_max), later @ ..] = STAGES;
    let measured = measure(&binary, elements, Chosen::Part(part))?;
    let cases = measured.len();
    let mut suspects = over(measured, ratio_max);
    let mut counts = vec![format!("{cases} cases")];
    for (elements, ratio_max) in later {
        suspects.iter().for_each(|it| println!("measured at {elements} elements: {}", it.name));
        counts.push(format!("{} measured at {elements} elements", suspects.len()));
        suspects = over(measure_again(&binary, elements, &suspects)?, ratio_max);
    }
    let findings: Vec<String> = suspects.iter().filter_map(Measured::finding).collect();
    findings.iter().for_each(|line| println!("{line}"));
    println!("{}, {} findings", counts.join(", "), findings.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Shows that a loop over all that came before is found at every length, even behind a translation of the same elements, and
/// that an index in its place is not.
fn check_judge(binary: &Path) -> Result<()> {
    for (elements, ratio_max) in STAGES {
        let suspects = over(measure(binary, elements, Chosen::Planted)?, ratio_max);
        let names: Vec<&str> = suspects.iter().map(|it| it.name.as_str()).collect();
        ensure!(
            names == [PLANTED_SCAN],
            "of the planted loops `{PLANTED_SCAN}` alone is quadratic, and at {elements} elements {names:?} were found"
        );
    }
    println!("a planted quadratic loop is found at every length");
    Ok(())
}

/// The cases that cost too much, or were not translated.
fn over(measured: Vec<Measured>, ratio_max: u64) -> Vec<Measured> {
    measured.into_iter().filter(|it| it.is_over(ratio_max)).collect()
}

fn measure_again(binary: &Path, elements: usize, suspects: &[Measured]) -> Result<Vec<Measured>> {
    let names: Vec<&str> = suspects.iter().map(|it| it.name.as_str()).collect();
    match names.is_empty() {
        true => Ok(Vec::new()),
        false => measure(binary, elements, Chosen::Names(&names.join("\n"))),
    }
}

/// Which cases are measured.
#[derive(Clone, Copy)]
enum Chosen<'c> {
    /// Those whose name has this in it.
    Part(&'c str),
    /// Those of these names, one a line.
    Names(&'c str),
    /// Loops of known growth, instead of the cases.
    Planted,
}

/// The one planted loop that is quadratic.
const PLANTED_SCAN: &str = "planted/scan";

impl Measured {
    /// Whether the case was not translated, or twice the elements cost more than that.
    fn is_over(&self, ratio_max: u64) -> bool {
        !self.refused.is_empty() || self.twice * 100 > self.once * ratio_max
    }

    /// What is wrong with a case: its work grows faster than its input, or it tests nothing.
    fn finding(&self) -> Option<String> {
        let Self { name, once, twice, refused } = self;
        if !refused.is_empty() {
            return Some(format!("{name}: not translated, {refused}"));
        }
        let ratio = *twice as f64 / *once as f64;
        self.is_over(RATIO_MAX)
            .then(|| format!("{name}: {ratio:.2} times for twice the elements ({once} → {twice})"))
    }
}

/// Builds the program that translates, and answers where it is.
fn build() -> Result<PathBuf> {
    let root = crate::project_root();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--profile", "counted"])
        .args(["--package", "sabir-testkit", "--example", "long"])
        .current_dir(root)
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "the long inputs do not build");
    let target = env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    Ok(target.join("counted/examples/long"))
}

/// Counts on all cores, each of which takes a share of the cases.
fn measure(binary: &Path, elements: usize, chosen: Chosen<'_>) -> Result<Vec<Measured>> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let folder = Scratch::new()?;
    let folder = &folder.0;
    let shares: Result<Vec<Vec<Measured>>> = thread::scope(|scope| {
        let begin = |share: usize| {
            let dumps = folder.join(share.to_string());
            scope.spawn(move || measure_share((binary, elements), chosen, (share, workers), &dumps))
        };
        let handles: Vec<_> = (0..workers).map(begin).collect();
        handles.into_iter().map(|handle| handle.join().expect("counting does not panic")).collect()
    });
    Ok(shares?.into_iter().flatten().collect())
}

/// Counts a share of the cases. The tool writes what it has counted to a file of its own whenever a case has run.
fn measure_share(
    (binary, elements): (&Path, usize),
    chosen: Chosen<'_>,
    (share, of): (usize, usize),
    dumps: &Path,
) -> Result<Vec<Measured>> {
    let (verb, part, names) = match chosen {
        Chosen::Part(part) => ("count", part, ""),
        Chosen::Names(names) => ("count", "", names),
        Chosen::Planted => ("planted", "", ""),
    };
    let output = Command::new("valgrind")
        .env("SABIR_LONG_NAMES", names)
        .args(["--tool=callgrind", "--toggle-collect=long::counted", "--dump-after=long::counted"])
        .arg(format!("--callgrind-out-file={}", dumps.display()))
        .arg(binary)
        .args([verb, &share.to_string(), &of.to_string(), &elements.to_string(), part])
        .output()
        .context("cannot run valgrind, which counts the instructions")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let runs: Vec<&str> = text.lines().collect();
    let read = |(number, runs): (usize, &[&str])| match runs {
        [_, twice] => {
            let (name, refused) = twice.split_once('\t').context("not the line of a case")?;
            let [once, twice] = [1, 2].map(|it| counted(dumps, 2 * number + it));
            let (name, refused) = (name.to_owned(), refused.to_owned());
            Ok(Measured { name, once: once?, twice: twice?, refused })
        }
        _ => bail!("a case ran once"),
    };
    runs.chunks(2).enumerate().map(read).collect()
}

/// The instructions of the run with that number.
fn counted(dumps: &Path, number: usize) -> Result<u64> {
    let path = dumps.with_extension(number.to_string());
    let text = fs::read_to_string(&path).context("valgrind has not written its counts")?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    total.context("valgrind did not say what it counted")?.trim().parse().context("not a count")
}

/// A folder that goes when it is no longer needed.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let folder = env::temp_dir().join(format!("sabir-linear-{}", process::id()));
        fs::create_dir_all(&folder).context("cannot make a folder for the counts")?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind is temporary all the same.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(once: u64, twice: u64, refused: &str) -> Option<String> {
        let (name, refused) = ("a".to_owned(), refused.to_owned());
        Measured { name, once, twice, refused }.finding()
    }

    #[test]
    fn twice_the_elements_may_cost_a_little_more_than_twice() {
        assert_eq!(finding(1_000, 2_200, ""), None);
        let words = "a: 2.20 times for twice the elements (1000 → 2201)";
        assert_eq!(finding(1_000, 2_201, "").unwrap(), words);
    }

    #[test]
    fn a_case_that_is_refused_tests_nothing() {
        assert_eq!(finding(1, 1, "no").unwrap(), "a: not translated, no");
    }
}
