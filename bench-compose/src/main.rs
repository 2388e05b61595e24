//! The benchmark's command line: without arguments it prints a table for each part of composing, and fails if a cell misses its
//! bar. `list` prints the names of what can be counted, and `run NAME TIMES` runs one of them for a tool that counts instructions.

mod assemble;
mod build;
mod chat;
mod table;

use std::env;
use std::error::Error;
use std::process::ExitCode;

use crate::chat::Case;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => measure(),
        ["list"] => {
            Case::all().for_each(|case| println!("{}\t1", case.name()));
            Ok(ExitCode::SUCCESS)
        }
        ["run", name, times] => {
            let times: usize = times.parse()?;
            let case = Case::all().find(|case| case.name() == *name).ok_or("no such case")?;
            case.run(&|run| {
                run()?;
                counted(times, run)
            })?;
            Ok(ExitCode::SUCCESS)
        }
        _ => Err("expected nothing, `list` or `run NAME TIMES`".into()),
    }
}

fn measure() -> Result<ExitCode, Box<dyn Error>> {
    let tables = [
        build::measure()?,
        build::measure_summaries()?,
        build::measure_repairs()?,
        assemble::measure()?,
    ];
    tables.iter().for_each(|table| println!("{}", table.render()));
    Ok(match tables.iter().all(table::Table::is_within) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// A function that a tool can tell from the preparation.
#[inline(never)]
fn counted(
    times: usize,
    run: &dyn Fn() -> Result<usize, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    for _ in 0..times {
        run()?;
    }
    Ok(())
}
