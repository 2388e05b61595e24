//! The project's own chores, run as `cargo xtask CHORE`. Each chore is a module and a row of `CHORES`.

mod bench;
mod crash;
mod fixtures;
mod generated;
mod laws;
mod linear;
mod matrix;
mod miniature;
mod sdk_cases;
mod tidy;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

struct Chore {
    name: &'static str,
    /// What may follow the name, as the usage text shows it.
    arguments: &'static str,
    summary: &'static str,
    /// Gets the arguments after the name; the exit code is the chore's verdict, an error its failure to reach one.
    run: fn(&[String]) -> Result<ExitCode>,
}

const CHORES: &[Chore] = &[
    Chore {
        name: "bench",
        arguments: "wire [--check | --record] | compose [--count] | peers | gateway [--quick] [NAME…]",
        summary: "measure the speed of translation, of composing and of the gateway, or compare instruction counts with those on record",
        run: bench::run,
    },
    Chore {
        name: "crash",
        arguments: "[--kills N] [--seconds S] [--store sqlite|postgres] [--seed N]",
        summary: "kill a gateway under load again and again, and look for everything that it acknowledged",
        run: crash::run,
    },
    Chore {
        name: "fixtures",
        arguments: "[--check]",
        summary: "write fixtures/INDEX.md, or check that it is fresh",
        run: fixtures::run,
    },
    Chore {
        name: "laws",
        arguments: "FOLDER… [--all] [--round-trip]",
        summary: "run the laws of translation over fixtures or recordings, or what a way back spells otherwise",
        run: laws::run,
    },
    Chore {
        name: "linear",
        arguments: "[all | PART-OF-NAME]",
        summary: "hold the work of translating long inputs to their length, by counts of instructions",
        run: linear::run,
    },
    Chore {
        name: "matrix",
        arguments: "[--check]",
        summary: "write docs/matrix.md from the code, or check that it is fresh",
        run: matrix::run,
    },
    Chore {
        name: "miniature",
        arguments: "",
        summary: "add a small protocol to a copy of the project by the steps of docs/adding-a-protocol.md, and test it there",
        run: miniature::run,
    },
    Chore {
        name: "sdk-cases",
        arguments: "FILE",
        summary: "write what every fixture becomes in every other protocol",
        run: sdk_cases::run,
    },
    Chore {
        name: "tidy",
        arguments: "",
        summary: "check the rules of this project that neither rustc nor clippy knows",
        run: tidy::run,
    },
];

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", usage());
        return Ok(ExitCode::SUCCESS);
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", usage());
        return Ok(ExitCode::SUCCESS);
    }
    let Some(chore) = CHORES.iter().find(|chore| chore.name == name) else {
        eprint!("unknown chore {name:?}\n\n{}", usage());
        return Ok(ExitCode::from(2));
    };
    (chore.run)(rest).with_context(|| format!("cargo xtask {name}"))
}

fn usage() -> String {
    let mut text = String::from("usage: cargo xtask CHORE [ARGUMENTS]\n\nChores:\n");
    for chore in CHORES {
        let call = format!("{} {}", chore.name, chore.arguments);
        text.push_str(&format!("  {call:<24} {}\n", chore.summary));
    }
    text
}

/// The top folder of the project, wherever the command was called.
pub(crate) fn project_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask stands in the project's top folder")
}
