//! Several addresses of one host, some of which do not answer.

use std::sync::{Arc, Mutex};

use tokio::net::TcpListener;
use tokio::time::Instant;

use super::*;

fn addresses(list: &[&str]) -> Vec<SocketAddr> {
    list.iter().map(|address| address.parse().unwrap()).collect()
}

#[test]
fn the_families_are_tried_by_turns_and_the_resolvers_choice_first() {
    for (found, expected) in [
        (&["1.1.1.1:1"][..], &["1.1.1.1:1"][..]),
        (
            &["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1", "1.1.1.2:1"],
            &["[::1]:1", "1.1.1.1:1", "[::2]:1", "1.1.1.2:1", "[::3]:1"],
        ),
        (
            &["1.1.1.1:1", "[::1]:1", "[::2]:1", "[::3]:1"],
            &["1.1.1.1:1", "[::1]:1", "[::2]:1", "[::3]:1"],
        ),
        (&[], &[]),
    ] {
        let order = interleaved(addresses(found).into_iter());
        assert_eq!(order, addresses(expected), "{found:?}");
    }
}

/// What an address does when it is asked for a connection.
#[derive(Clone, Copy)]
enum Behaviour {
    ConnectsAfter(u64),
    FailsAfter(u64),
    IsSilent,
}

/// Tries addresses that behave so, in paused time. Returns the port that won, the milliseconds that it took, and when each
/// attempt began.
async fn race(behaviours: &[Behaviour]) -> (io::Result<u16>, u128, Vec<u128>) {
    let start = Instant::now();
    let begun = Arc::new(Mutex::new(Vec::new()));
    let list: Vec<SocketAddr> =
        (0..behaviours.len()).map(|port| SocketAddr::from(([127, 0, 0, 1], port as u16))).collect();
    let outcome = connect_any(&list, |address| {
        begun.lock().unwrap().push(start.elapsed().as_millis());
        let behaviour = behaviours[usize::from(address.port())];
        async move {
            let wait = |ms| tokio::time::sleep(Duration::from_millis(ms));
            match behaviour {
                Behaviour::ConnectsAfter(ms) => wait(ms).await,
                Behaviour::FailsAfter(ms) => {
                    wait(ms).await;
                    return Err(io::Error::other(format!("failed {}", address.port())));
                }
                Behaviour::IsSilent => std::future::pending().await,
            }
            Ok(address.port())
        }
    });
    let outcome = outcome.await;
    let took = start.elapsed().as_millis();
    let begun = begun.lock().unwrap().clone();
    (outcome, took, begun)
}

#[tokio::test(start_paused = true)]
async fn the_first_to_connect_wins_and_each_has_a_head_start() {
    use Behaviour::*;
    for (behaviours, winner, took, begun) in [
        (&[ConnectsAfter(249), ConnectsAfter(0)][..], 0, 249, &[0][..]),
        (&[IsSilent, ConnectsAfter(10)], 1, 260, &[0, 250]),
        (&[IsSilent, IsSilent, ConnectsAfter(10)], 2, 510, &[0, 250, 500]),
        // One that is late wins over one that is later.
        (&[ConnectsAfter(300), ConnectsAfter(100)], 0, 300, &[0, 250]),
        (&[ConnectsAfter(900), ConnectsAfter(100), ConnectsAfter(0)], 1, 350, &[0, 250]),
        // A refusal ends the head start.
        (&[FailsAfter(5), ConnectsAfter(10)], 1, 15, &[0, 5]),
        (&[IsSilent, FailsAfter(5), ConnectsAfter(10)], 2, 265, &[0, 250, 255]),
        // All have begun: there is nothing to do but wait.
        (&[ConnectsAfter(2_000), FailsAfter(1)], 0, 2_000, &[0, 250]),
    ] {
        let (outcome, time, starts) = race(behaviours).await;
        assert_eq!((outcome.unwrap(), time, &starts[..]), (winner, took, begun));
    }
}

#[tokio::test(start_paused = true)]
async fn where_all_fail_the_last_error_is_reported() {
    use Behaviour::*;
    for (behaviours, expected) in [
        (&[][..], "the host has no address"),
        (&[FailsAfter(3)], "failed 0"),
        (&[FailsAfter(3), FailsAfter(3)], "failed 1"),
        (&[FailsAfter(400), FailsAfter(3)], "failed 0"),
    ] {
        let (outcome, ..) = race(behaviours).await;
        assert_eq!(outcome.unwrap_err().to_string(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_that_did_not_win_are_given_up() {
    let held = Arc::new(());
    let list = addresses(&["127.0.0.1:0", "127.0.0.1:1"]);
    let connect = |address: SocketAddr| {
        let held = Arc::clone(&held);
        async move {
            if address.port() == 0 {
                std::future::pending::<()>().await;
            }
            drop(held);
            Ok(())
        }
    };
    connect_any(&list, connect).await.unwrap();
    tokio::task::yield_now().await;
    assert_eq!(Arc::strong_count(&held), 1);
}

/// A listener that answers no more: its queue of connections is full and nobody takes them.
#[cfg(target_os = "linux")]
fn silent() -> (SocketAddr, Vec<socket2::Socket>) {
    use socket2::{Domain, Socket, Type};
    let socket = || Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let listener = socket();
    listener.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let mut held = vec![listener];
    loop {
        let filling = socket();
        let is_taken = filling.connect_timeout(&address, Duration::from_millis(50)).is_ok();
        held.push(filling);
        if !is_taken {
            return (address.as_socket().unwrap(), held);
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_real_address_that_does_not_answer_costs_its_head_start_alone() {
    let (silent, _held) = silent();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = listener.local_addr().unwrap();
    let start = Instant::now();
    let stream = connect_any(&[silent, near], TcpStream::connect).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), near);
    assert!(start.elapsed() >= HEAD_START, "{:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn silence_of_the_only_address_ends_at_the_deadline() {
    use crate::http::connect::connect;
    let (silent, _held) = silent();
    let address = Address::of(&format!("http://{silent}").parse().unwrap()).unwrap();
    let error = connect(&address, None, Duration::from_millis(20)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectTimeout);
}

#[tokio::test]
async fn a_real_address_that_refuses_is_passed_over() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let refuses = closed.local_addr().unwrap();
    drop(closed);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = listener.local_addr().unwrap();
    let stream = connect_any(&[refuses, near], TcpStream::connect).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), near);
}
