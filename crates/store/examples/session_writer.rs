//! Saves a session again and again, for the tests that kill it: each save says its number as often as its first line says, and
//! is acknowledged on standard output.

use std::io::Write;

use sabir_store::{Folder, Replaces, SessionId};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("the folder of the sessions is missing")?;
    let sessions = Folder::new(folder);
    let id = SessionId::new("s")?;
    let last = sessions.read(&id)?.and_then(|file| number(&file.bytes)).unwrap_or(0);
    for number in last + 1.. {
        let count = number * 97 % 20_000 + 1;
        let lines = format!("{number}\n").repeat(usize::try_from(count)?);
        let file = format!("{number} {count}\n{lines}");
        sessions.write(&id, file.as_bytes(), Replaces::Anything)?;
        writeln!(std::io::stdout(), "{number}")?;
    }
    Ok(())
}

fn number(file: &[u8]) -> Option<u64> {
    std::str::from_utf8(file).ok()?.split(' ').next()?.parse().ok()
}
