//! Large frames of a stream are translated on other threads: here those are kept busy, so that nothing but waiting is left, and
//! the thread of the connection goes on with the work of others.

use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::Poll;

use http_body::Body as _;
use sabir_wire::Protocol;

use crate::egress::Reply;
use crate::state::Snapshot;
use crate::tests::{Asking, ask, fold, gateway, next, rest, simulator, text_of, understood};

/// More than what is translated on the threads that serve connections.
const LARGE: usize = 400_000;

fn chunk(text: &str) -> String {
    format!(
        "data: {{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\
         \"delta\":{{\"role\":\"assistant\",\"content\":\"{text}\"}},\"finish_reason\":null}}]}}\n\n"
    )
}

const END: &str = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\
                   \"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// A Chat provider that sends one stream, and says when its client leaves.
fn provider(frames: String) -> (Arc<Snapshot>, mpsc::Receiver<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (left, has_left) = mpsc::channel();
    std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        read_request(&mut stream);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let _ = stream.write_all(format!("{head}{frames}").as_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = left.send(!matches!(stream.read(&mut [0]), Ok(1..)));
    });
    let toml = format!(
        "env_providers = false\n[[provider]]\nname = \"p\"\nprotocol = \"openai-chat\"\n\
         base_url = \"http://{address}/v1\"\n"
    );
    (Arc::new(gateway(&toml)), has_left)
}

fn read_request(stream: &mut TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    stream.read_exact(&mut vec![0; length.parse().unwrap()]).unwrap();
}

/// More than there are threads for long work.
const BUSY: u64 = 512;

/// Keeps all threads for long work busy until the sender is dropped.
async fn occupy(snapshot: &Arc<Snapshot>) -> (mpsc::Sender<()>, tokio::task::JoinSet<()>) {
    let (release, released) = mpsc::channel();
    let released = Arc::new(std::sync::Mutex::new(released));
    let mut busy = tokio::task::JoinSet::new();
    for _ in 0..BUSY {
        let (snapshot, released) = (Arc::clone(snapshot), Arc::clone(&released));
        busy.spawn(async move {
            let work = move |_: &_| {
                let released = released.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let _ = released.recv();
                Ok(())
            };
            snapshot.shared.pool.run(work).await.unwrap();
        });
    }
    let threads = std::thread::available_parallelism().map_or(2, |it| it.get().max(2)) as u64;
    while counter(snapshot, "sabir_large_jobs_total") < BUSY
        || counter(snapshot, "sabir_large_jobs_waiting") + threads > BUSY
    {
        tokio::task::yield_now().await;
    }
    (release, busy)
}

/// A number among the counters of the pool.
pub(super) fn counter(snapshot: &Snapshot, name: &str) -> u64 {
    let mut text = String::new();
    snapshot.shared.pool.render(&mut text);
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap().parse().unwrap()
}

/// Whether nothing more comes for now, however often it is asked for.
async fn is_waiting(reply: &mut Reply) -> bool {
    let mut is_waiting = true;
    for _ in 0..20 {
        tokio::task::yield_now().await;
        is_waiting &=
            poll_fn(|cx| Poll::Ready(Pin::new(reply.body_mut()).poll_frame(cx).is_pending())).await;
    }
    is_waiting
}

/// Reads until a large frame waits for a thread; what came before it.
async fn read_until_waiting(snapshot: &Snapshot, reply: &mut Reply) -> String {
    let mut text = Vec::new();
    while counter(snapshot, "sabir_large_jobs_total") == BUSY {
        let frame = poll_fn(|cx| Poll::Ready(Pin::new(reply.body_mut()).poll_frame(cx))).await;
        match frame {
            Poll::Ready(frame) => text.extend(frame.unwrap().unwrap().into_data().unwrap()),
            Poll::Pending => tokio::task::yield_now().await,
        }
    }
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn others_are_served_while_a_large_frame_waits_for_a_thread() {
    let long = "long ".repeat(LARGE / 5);
    let frames = chunk("before ") + &chunk(&long) + &chunk("behind") + END;
    let (snapshot, _) = provider(frames);
    let (release, mut busy) = occupy(&snapshot).await;
    let mut reply = ask(&snapshot, Protocol::AnthropicMessages, "p/m", Asking::Stream).await;
    let mut text = read_until_waiting(&snapshot, &mut reply).await;
    assert!(text.contains("before ") && !text.contains("long"), "what is small has left already");
    assert!(is_waiting(&mut reply).await);
    for asking in [Asking::Whole, Asking::Stream] {
        let model = format!("{}/sim", simulator(Protocol::Gemini));
        let mut other = ask(&snapshot, Protocol::AnthropicMessages, &model, asking).await;
        let other = understood(&mut other, Protocol::AnthropicMessages, asking).await;
        assert!(!text_of(&other).is_empty());
    }
    assert!(is_waiting(&mut reply).await, "nothing overtakes it");
    drop(release);
    let (rest, is_cut) = rest(&mut reply).await;
    text.push_str(&rest);
    assert!(!is_cut);
    let whole = text_of(&fold(Protocol::AnthropicMessages, &text));
    assert!(whole == format!("before {long}behind"), "all of it in its order");
    assert_eq!(counter(&snapshot, "sabir_large_jobs_total"), BUSY + 1);
    while busy.join_next().await.is_some() {}
}

#[tokio::test]
async fn a_client_that_leaves_takes_its_large_frames_back() {
    let (snapshot, has_left) = provider(chunk("a") + &chunk(&"long ".repeat(LARGE / 5)) + END);
    let (release, mut busy) = occupy(&snapshot).await;
    let mut reply = ask(&snapshot, Protocol::AnthropicMessages, "p/m", Asking::Stream).await;
    read_until_waiting(&snapshot, &mut reply).await;
    let waiting = counter(&snapshot, "sabir_large_jobs_waiting");
    drop(reply);
    assert_eq!(counter(&snapshot, "sabir_large_jobs_waiting"), waiting - 1);
    assert!(has_left.recv().unwrap());
    drop(release);
    while busy.join_next().await.is_some() {}
}

#[tokio::test]
async fn what_comes_before_a_large_frame_that_cannot_be_read_arrives() {
    let long = "long ".repeat(LARGE / 5);
    let broken = format!("data: {{\"choices\":\"{long}\n\n");
    for (frames, is_whole) in [
        (chunk("a") + &chunk(&long) + "data: {]\n\n", true),
        (chunk("a") + &broken + END, false),
        (chunk("a") + &chunk(&long), true),
        (chunk("a") + chunk(&long).trim_end(), true),
    ] {
        let (snapshot, _) = provider(frames);
        let mut reply = ask(&snapshot, Protocol::AnthropicMessages, "p/m", Asking::Stream).await;
        let mut text = String::new();
        while let Some(Ok(bytes)) = next(&mut reply).await {
            text.push_str(std::str::from_utf8(&bytes).unwrap());
        }
        assert_eq!(text.contains(&long), is_whole);
        assert!(text.contains("event: error") && !text.contains("message_stop"));
    }
}

#[tokio::test]
async fn a_large_last_frame_needs_no_blank_line() {
    let long = "long ".repeat(LARGE / 5);
    let last = chunk(&long).replace("\"finish_reason\":null", "\"finish_reason\":\"stop\"");
    let (snapshot, _) = provider(last.trim_end().to_owned());
    let mut reply = ask(&snapshot, Protocol::AnthropicMessages, "p/m", Asking::Stream).await;
    let answer = understood(&mut reply, Protocol::AnthropicMessages, Asking::Stream).await;
    assert!(text_of(&answer) == long);
    assert_eq!(counter(&snapshot, "sabir_large_jobs_total"), 1);
}

#[tokio::test]
async fn a_large_frame_that_passes_is_looked_at_elsewhere_too() {
    let long = "long ".repeat(LARGE / 5);
    let frames = chunk("before ") + &chunk(&long) + &chunk("behind") + &chunk(&long) + END;
    let (snapshot, _) = provider(frames.clone());
    let (release, mut busy) = occupy(&snapshot).await;
    let mut reply = ask(&snapshot, Protocol::OpenaiChat, "p/m", Asking::Stream).await;
    let mut text = read_until_waiting(&snapshot, &mut reply).await;
    assert!(text == chunk("before "), "what is small has left already");
    assert!(is_waiting(&mut reply).await);
    drop(release);
    let (rest, is_cut) = rest(&mut reply).await;
    text.push_str(&rest);
    assert!(!is_cut && text == frames, "all of it as it was");
    assert_eq!(counter(&snapshot, "sabir_large_jobs_total"), BUSY + 2);
    while busy.join_next().await.is_some() {}
}

#[tokio::test]
async fn a_client_that_leaves_takes_its_passing_frames_back() {
    let (snapshot, has_left) = provider(chunk("a") + &chunk(&"long ".repeat(LARGE / 5)) + END);
    let (release, mut busy) = occupy(&snapshot).await;
    let mut reply = ask(&snapshot, Protocol::OpenaiChat, "p/m", Asking::Stream).await;
    read_until_waiting(&snapshot, &mut reply).await;
    let waiting = counter(&snapshot, "sabir_large_jobs_waiting");
    drop(reply);
    assert_eq!(counter(&snapshot, "sabir_large_jobs_waiting"), waiting - 1);
    assert!(has_left.recv().unwrap());
    drop(release);
    while busy.join_next().await.is_some() {}
}

#[tokio::test]
async fn large_frames_pass_as_far_as_they_are_whole() {
    let long = "long ".repeat(LARGE / 5);
    let half = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{long}");
    let first = chunk("a");
    let last = chunk(&long).replace("\"finish_reason\":null", "\"finish_reason\":\"stop\"");
    for (frames, passes, jobs, is_whole) in [
        // A last frame that lacks nothing but its blank line.
        (format!("{first}{}", last.trim_end()), format!("{first}{}", last.trim_end()), 1, true),
        (
            format!("{first}{last}{}", last.trim_end()),
            format!("{first}{last}{}", last.trim_end()),
            2,
            true,
        ),
        // Half a frame, before the answer's end and behind it.
        (format!("{first}{half}"), first.clone(), 1, false),
        (format!("{first}{half}\n\n{END}"), first.clone(), 1, false),
        (format!("{first}{END}{half}"), format!("{first}{END}"), 1, true),
        (format!("{first}{last}data: {{]\n\n"), format!("{first}{last}"), 1, false),
        // A stream that merely stops.
        (format!("{first}{}", chunk(&long)), format!("{first}{}", chunk(&long)), 1, false),
        // Comments are no event, however many they are.
        (format!("{first}{END}:{long}"), format!("{first}{END}:{long}"), 0, true),
    ] {
        let (snapshot, _) = provider(frames.clone());
        let mut reply = ask(&snapshot, Protocol::OpenaiChat, "p/m", Asking::Stream).await;
        let mut text = String::new();
        while let Some(Ok(bytes)) = next(&mut reply).await {
            text.push_str(std::str::from_utf8(&bytes).unwrap());
        }
        let shown: String = frames.chars().rev().take(80).collect();
        let behind = text.strip_prefix(&passes);
        assert!(behind.is_some(), "{shown}: {} of {} bytes", text.len(), passes.len());
        assert_eq!(
            behind.is_some_and(|it| it.contains("\"error\"")),
            !is_whole,
            "{shown}: {behind:?}"
        );
        assert_eq!(counter(&snapshot, "sabir_large_jobs_total"), jobs, "{shown}");
    }
}
