//! The benchmark's command line: prints a table for each part of composing, and fails if a cell misses its bar.

mod assemble;
mod build;
mod table;

use std::error::Error;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
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
