//! `sabir sim`: what it says when it starts, and that it answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::run::{sabir, spawn};

#[test]
fn it_tells_where_it_listens_and_answers_there() {
    let mut child = spawn("sim --listen localhost:0");
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let address = first.split("http://").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    let body = r#"{"model":"sim","max_tokens":99,"messages":[{"role":"user","content":"hello"}]}"#;
    let length = body.len();
    let head = format!(
        "POST /anthropic/v1/messages HTTP/1.1\r\nhost: {address}\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(answer.contains("You said: \\\"hello\\\"."), "{answer}");
}

#[test]
fn an_address_that_cannot_be_had_is_an_error() {
    let run = sabir("sim --listen 192.0.2.1:9", "").exits(1);
    assert!(run.stderr.contains("cannot listen on 192.0.2.1:9"), "{}", run.stderr);
    sabir("sim --listen nonsense", "").exits(2);
}

#[test]
fn an_address_that_is_taken_is_an_error_with_a_way_out() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let run = sabir(&format!("sim --listen {address}"), "").exits(1);
    assert!(run.stderr.contains("use --listen"), "{}", run.stderr);
}
