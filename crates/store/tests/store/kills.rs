//! Writers of a session's file, killed at any moment: what they leave is whole.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sabir_store::{Folder, SessionId};

/// Kills so many writers, one after the other, and looks at the file each time.
pub(crate) fn kill_writers(kills: u32) {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kills-{}", std::process::id()));
    let sessions = Folder::new(&folder);
    let id = SessionId::new("s").unwrap();
    let mut random: u64 = 0x9e37_79b9_7f4a_7c15;
    let (mut last, mut left_behind) = (0, 0);
    for _ in 0..kills {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let acknowledged = run_and_kill(&folder, random);
        let file = sessions.read(&id).unwrap().unwrap();
        let number = whole(&file.bytes);
        assert!(number >= last.max(acknowledged), "{number} after {last} and {acknowledged}");
        last = number;
        left_behind = std::fs::read_dir(folder.join("sessions/s")).unwrap().count() - 1;
    }
    println!("{kills} kills, {last} saves, {left_behind} unfinished files left behind");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Runs a writer for some saves and a part of the next, and returns the last save that it acknowledged.
fn run_and_kill(folder: &std::path::Path, random: u64) -> u64 {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/session_writer");
    let mut writer = Command::new(program)
        .arg(folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("`cargo test` builds the examples");
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let saves = random >> 61;
    let mut acknowledged = 0;
    for _ in 0..=saves {
        acknowledged = lines.next().unwrap().unwrap().parse().unwrap();
    }
    let until = Instant::now() + Duration::from_micros((random >> 32) % 3000);
    while Instant::now() < until {
        std::hint::spin_loop();
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
    let rest = lines.map_while(Result::ok).filter_map(|line| line.parse().ok());
    rest.max().unwrap_or(acknowledged)
}

/// The number of a save, if all of it is there: it is written again and again, as often as its first line says.
fn whole(bytes: &[u8]) -> u64 {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut lines = text.lines();
    let (number, count) = lines.next().unwrap().split_once(' ').unwrap();
    assert_eq!(lines.clone().count().to_string(), count);
    assert!(lines.all(|line| line == number));
    number.parse().unwrap()
}
