//! A gateway whose output nobody reads, or for whose log there is no room: it serves all the same.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::folder::Folder;
use crate::waiting::{PATIENCE, wait_for};

/// A gateway, ended with the test.
struct Serving(Child);

impl Serving {
    fn start(folder: &Folder, listen: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sabir"));
        command.args(["serve", "--listen", listen]).current_dir(folder.path());
        command.env_clear().env("SABIR_DATA_DIR", folder.path());
        Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_for_listener(address: &str) {
    wait_for("nobody listens", || TcpStream::connect(address).ok());
}

fn answer(address: &str) -> String {
    answer_of("sim", address)
}

fn answer_of(model: &str, address: &str) -> String {
    let body = format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":"hello"}}]}}"#);
    request("POST /v1/chat/completions", &body, address)
}

fn request(line: &str, body: &str, address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!("{line} HTTP/1.0\r\nhost: localhost\r\n");
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The address at the end of the banner's first line.
fn address_of(serving: &mut Serving) -> String {
    let mut banner = String::new();
    BufReader::new(serving.0.stdout.take().unwrap()).read_line(&mut banner).unwrap();
    banner.trim().rsplit('/').next().unwrap().to_owned()
}

#[test]
fn a_log_that_cannot_be_written_fails_no_request() {
    let folder = Folder::new("log-unread");
    let mut serving = Serving::start(&folder, "127.0.0.1:0");
    let address = address_of(&mut serving);
    drop(serving.0.stderr.take());
    for _ in 0..2 {
        let answer = answer(&address);
        assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    }
}

/// Asks a gateway to end and waits until it has.
#[cfg(unix)]
fn terminate(serving: &mut Serving) -> std::process::ExitStatus {
    let id = serving.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    wait_for("it does not end", || serving.0.try_wait().unwrap())
}

#[cfg(unix)]
#[test]
fn a_log_that_nobody_reads_stops_nothing() {
    const REQUESTS: u64 = 900;
    const DROPPED: &str = "\nsabir_log_lines_dropped_total ";
    let dropped = |address: &str| -> u64 {
        let metrics = request("GET /metrics", "", address);
        let (_, count) = metrics.split_once(DROPPED).unwrap();
        count.lines().next().unwrap().parse().unwrap()
    };
    let folder = Folder::new("log-full");
    let mut serving = Serving::start(&folder, "127.0.0.1:0");
    let address = address_of(&mut serving);
    assert_eq!(dropped(&address), 0);
    // The log names the model that was asked for: long names fill the pipe and the queue before it sooner.
    let model = format!("sim-chat/{}", "x".repeat(500));
    for _ in 0..REQUESTS {
        let answer = answer_of(&model, &address);
        assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    }
    assert!(request("GET /healthz", "", &address).starts_with("HTTP/1.0 200"));
    let count = dropped(&address);
    assert!(count > 0 && count < REQUESTS, "{count}");
    assert!(terminate(&mut serving).success());
}

#[cfg(unix)]
#[test]
fn what_is_logged_last_is_written_before_the_end() {
    let folder = Folder::new("log-last");
    let mut serving = Serving::start(&folder, "127.0.0.1:0");
    let address = address_of(&mut serving);
    for _ in 0..20 {
        answer(&address);
    }
    assert!(terminate(&mut serving).success());
    let mut log = String::new();
    serving.0.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(log.lines().count(), 20, "{log}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_banner_for_which_there_is_no_room_holds_nobody_up() {
    let folder = Folder::new("banner-full");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address = free.to_string();
    let (_reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&[b'x'; 65_536]).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sabir"));
    command.args(["serve", "--listen", &address]).current_dir(folder.path());
    command.env_clear().env("SABIR_DATA_DIR", folder.path());
    let mut serving = Serving(command.stdout(writer).stderr(Stdio::null()).spawn().unwrap());
    wait_for_listener(&address);
    assert!(answer(&address).starts_with("HTTP/1.0 200"));
    assert!(terminate(&mut serving).success());
}

#[test]
fn a_banner_that_nobody_reads_does_not_end_the_gateway() {
    let folder = Folder::new("banner-unread");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address = free.to_string();
    let mut serving = Serving::start(&folder, &address);
    drop(serving.0.stdout.take());
    wait_for_listener(&address);
    assert!(answer(&address).starts_with("HTTP/1.0 200"));
    // It has tried to write all of it when it ends.
    #[cfg(unix)]
    assert!(terminate(&mut serving).success());
}
