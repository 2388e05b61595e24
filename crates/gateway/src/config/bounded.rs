//! Reading the files that a configuration consists of. Whatever they are, reading them comes to an end: a path may lead to a
//! device without one, or to a pipe that nobody writes to.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;
use std::{io, thread};

/// How long a file may take to be read. Pipes are welcome, as in `--config <(make-config)`.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads a file as text that may not be longer than so many bytes.
pub(super) fn read(path: &Path, bytes_max: usize) -> io::Result<String> {
    read_within(path, bytes_max, PATIENCE)
}

/// Reads in a thread of its own, which is left behind if it hangs: nothing else ends the wait for a pipe.
fn read_within(path: &Path, bytes_max: usize, patience: Duration) -> io::Result<String> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let path = path.to_owned();
    let read = move || drop(sender.send(read_bytes(&path, bytes_max)));
    thread::Builder::new().name("sabir-config".to_owned()).spawn(read)?;
    let bytes = receiver.recv_timeout(patience).unwrap_or_else(|_| {
        let message = format!("its end has not come within {} seconds", patience.as_secs());
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    })?;
    String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}

fn read_bytes(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    match bytes.len() > bytes_max {
        true => Err(io::Error::other(format!("it is longer than {} KiB", bytes_max / 1024))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: &str) {
        let found = read_within(Path::new(path), 64 * 1024, Duration::from_millis(200));
        match found {
            Ok(text) => assert_eq!(text, expected, "{path}"),
            Err(error) => assert_eq!(error.to_string(), expected, "{path}"),
        }
    }

    #[test]
    fn a_file_without_an_end_is_given_up() {
        check("/dev/zero", "it is longer than 64 KiB");
        check("/dev/null", "");
    }

    #[test]
    fn a_pipe_is_read_if_somebody_writes_to_it() {
        let folder = std::env::temp_dir().join(format!("sabir-pipe-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let pipe = |name: &str| {
            let path = folder.join(name);
            let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
            assert!(made.success());
            path
        };
        check(pipe("silent").to_str().unwrap(), "its end has not come within 0 seconds");
        let pipe = pipe("written");
        let written = pipe.clone();
        let writer = thread::spawn(move || std::fs::write(written, "sk-from-a-pipe"));
        assert_eq!(read(&pipe, 1024).unwrap(), "sk-from-a-pipe");
        writer.join().unwrap().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
