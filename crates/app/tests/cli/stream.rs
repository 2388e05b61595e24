//! Streams through the binary: as they come, in order, and quiet when nobody listens.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout};

use crate::run::{sabir, spawn};

const START: &str = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hel\"},\"finish_reason\":null}]}\n\n";
const MORE: &str = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":null}]}\n\n";
const END: &str = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
const CONVERT: &str = "convert --kind stream --from chat --to messages";

fn whole() -> String {
    [START, MORE, END].concat()
}

#[test]
fn a_stream_is_translated_to_its_end() {
    let run = sabir(CONVERT, whole()).exits(0);
    assert!(run.stdout.starts_with("event: message_start\ndata: {"), "{}", run.stdout);
    assert!(run.stdout.ends_with("\n\n"), "{}", run.stdout);
    let events: Vec<&str> =
        run.stdout.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(events.last(), Some(&"message_stop"));
}

/// Each piece of the input is written only after the output of the piece before it has been read.
#[test]
fn output_comes_before_the_input_ends() {
    let mut child = spawn(CONVERT);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for (piece, word) in [(START, "Hel"), (MORE, "\"lo\"")] {
        put(&mut stdin, piece);
        read_to(&mut stdout, word);
    }
    // The usage may follow the last piece, so only the end of the input ends the answer.
    put(&mut stdin, END);
    drop(stdin);
    read_to(&mut stdout, "message_stop");
    assert!(child.wait().unwrap().success());
}

fn put(stdin: &mut ChildStdin, piece: &str) {
    stdin.write_all(piece.as_bytes()).unwrap();
    stdin.flush().unwrap();
}

/// Reads lines until one holds `word`; the end of the output fails.
#[track_caller]
fn read_to(stdout: &mut BufReader<ChildStdout>, word: &str) {
    let mut line = String::new();
    while !line.contains(word) {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "no {word} before the end");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child = spawn(CONVERT);
    let mut stdin = child.stdin.take().unwrap();
    put(&mut stdin, START);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    read_to(&mut stdout, "Hel");
    drop(stdout);
    // The program may have ended before all is written.
    let _ = stdin.write_all(whole().as_bytes());
    drop(stdin);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{stderr}");
    assert!(!stderr.contains("panicked") && !stderr.contains("error"), "{stderr}");
}

#[test]
fn the_same_stream_gives_the_same_bytes() {
    for to in ["chat", "responses", "messages", "gemini"] {
        let arguments = format!("convert --kind stream --from chat --to {to} --report json");
        let (one, two) = (sabir(&arguments, whole()).exits(0), sabir(&arguments, whole()));
        assert_eq!((one.stdout.as_str(), &one.stderr), (two.stdout.as_str(), &two.stderr));
        assert!(one.losses().iter().all(|loss| loss.kind != "dropped"), "{}", one.stderr);
    }
}

#[test]
fn a_frame_that_cannot_be_read_ends_the_stream_with_its_number() {
    let run = sabir(CONVERT, [START, "data: {\"id\":\n\n"].concat()).exits(1);
    assert!(run.stdout.contains("Hel"), "{}", run.stdout);
    assert!(run.stdout.contains("event: error"), "{}", run.stdout);
    assert!(run.stderr.contains("at: /1"), "{}", run.stderr);
}

#[test]
fn half_a_frame_at_the_end_is_a_cut() {
    let run = sabir(CONVERT, [START, "data: {\"id\":"].concat()).exits(0);
    assert!(run.stdout.contains("Hel"), "{}", run.stdout);
    assert!(run.stdout.contains("event: error"), "{}", run.stdout);
}

#[test]
fn a_stream_without_a_frame_is_cut_and_not_empty() {
    let run = sabir(CONVERT, ": waiting\n\n").exits(0);
    assert!(run.stdout.contains("event: error"), "{}", run.stdout);
}

#[test]
fn a_cut_stream_stays_cut() {
    let run = sabir(CONVERT, START).exits(0);
    assert!(!run.stdout.contains("message_stop"), "{}", run.stdout);
    assert!(run.stdout.contains("event: error"), "{}", run.stdout);
}

#[test]
fn strict_holds_a_stream_back_and_prints_it_whole() {
    let run = sabir(&format!("{CONVERT} --strict"), whole()).exits(0);
    assert_eq!(run.stdout, sabir(CONVERT, whole()).stdout);
}

#[test]
fn the_list_that_gemini_streams_gives_the_same_as_its_events() {
    let element = |text: &str, rest: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"text":"{text}"}}]}}{rest}}}],"responseId":"r"}}"#
        )
    };
    let [one, two] = [element("Hel", ""), element("lo", r#","finishReason":"STOP""#)];
    let events = format!("data: {one}\n\ndata: {two}\n\n");
    let list = format!("[{one}\n,\r\n{two}\n]\n");
    for command in ["convert --to chat", "convert --to responses", "inspect"] {
        let arguments = format!("{command} --kind stream --from gemini");
        let (one, two) = (sabir(&arguments, &events).exits(0), sabir(&arguments, &list).exits(0));
        assert_eq!((&one.stdout, &one.stderr), (&two.stdout, &two.stderr));
    }
    let arguments = "convert --kind stream --from gemini --to messages";
    let cut = sabir(arguments, format!("[{one}\n,{{\"cand")).exits(0);
    assert!(cut.stdout.contains("Hel") && cut.stdout.contains("event: error"), "{}", cut.stdout);
    let run = sabir(arguments, format!("[{one},{{]}}]")).exits(1);
    assert!(run.stderr.contains("at: /1"), "{}", run.stderr);
}
