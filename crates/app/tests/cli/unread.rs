//! A gateway whose output nobody reads, or for whose log there is no room: it serves all the same.

use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::folder::Folder;

/// A gateway, ended with the test.
struct Serving(Child);

impl Serving {
    fn start(folder: &Folder, listen: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sabir"));
        command.args(["serve", "--listen", listen]).current_dir(folder.path()).env_clear();
        Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn answer(address: &str) -> String {
    let body = r#"{"model":"sim","messages":[{"role":"user","content":"hello"}]}"#;
    let mut stream = TcpStream::connect(address).unwrap();
    let head = "POST /v1/chat/completions HTTP/1.0\r\nhost: localhost\r\n";
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_log_that_cannot_be_written_fails_no_request() {
    let folder = Folder::new("log-unread");
    let mut serving = Serving::start(&folder, "127.0.0.1:0");
    let mut banner = String::new();
    BufReader::new(serving.0.stdout.take().unwrap()).read_line(&mut banner).unwrap();
    drop(serving.0.stderr.take());
    for _ in 0..2 {
        let answer = answer(banner.trim().rsplit('/').next().unwrap());
        assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    }
}

#[test]
fn a_banner_that_nobody_reads_does_not_end_the_gateway() {
    let folder = Folder::new("banner-unread");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address = free.to_string();
    let mut serving = Serving::start(&folder, &address);
    drop(serving.0.stdout.take());
    let is_there = |_: &u32| {
        thread::sleep(Duration::from_millis(50));
        TcpStream::connect(&address).is_ok()
    };
    assert!((0..200).find(is_there).is_some(), "nobody listens");
    thread::sleep(Duration::from_millis(200));
    assert!(answer(&address).starts_with("HTTP/1.0 200"));
}
