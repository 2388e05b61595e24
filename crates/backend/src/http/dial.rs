//! TCP connections to a host: its addresses are tried in turn with a head start each, as RFC 8305 has it, since one that
//! answers nothing must not cost all the time there is.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::error::{Error, ErrorKind, Result};
use crate::http::Address;

/// How long an attempt is alone before the next address is tried beside it: the "Connection Attempt Delay" of RFC 8305,
/// section 8.
const HEAD_START: Duration = Duration::from_millis(250);

pub(super) async fn dial(address: &Address) -> Result<TcpStream> {
    let failed = |error: io::Error| {
        Error::new(ErrorKind::Connect, format!("no connection to {address}: {error}"))
    };
    let found = tokio::net::lookup_host((address.host(), address.port())).await.map_err(failed)?;
    let stream = connect_any(&interleaved(found), TcpStream::connect).await.map_err(failed)?;
    // Without this a small write waits for the acknowledgement of the one before: 40 ms on every lone stream.
    stream.set_nodelay(true).map_err(failed)?;
    Ok(stream)
}

/// The addresses in the order of the resolver, but the two families by turns: where one of them leads nowhere, it does so
/// for all of its addresses.
fn interleaved(addresses: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    let addresses: Vec<SocketAddr> = addresses.collect();
    let is_v6_first = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == is_v6_first);
    let mut second = second.into_iter();
    let mut taken: Vec<SocketAddr> =
        first.into_iter().flat_map(|address| [Some(address), second.next()]).flatten().collect();
    taken.extend(second);
    taken
}

/// The first connection that is made; the attempts beside it are given up. Where all fail, the error of the last one.
async fn connect_any<S, F>(
    addresses: &[SocketAddr],
    connect: impl Fn(SocketAddr) -> F,
) -> io::Result<S>
where
    S: Send + 'static,
    F: Future<Output = io::Result<S>> + Send + 'static,
{
    if let [address] = addresses {
        return connect(*address).await;
    }
    let mut attempts = JoinSet::new();
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in addresses {
        attempts.spawn(connect(*address));
        // Without an outcome the next one starts beside it.
        let outcome = tokio::time::timeout(HEAD_START, attempts.join_next()).await;
        if let Ok(Some(outcome)) = outcome {
            match outcome? {
                Ok(stream) => return Ok(stream),
                Err(error) => failure = error,
            }
        }
    }
    while let Some(outcome) = attempts.join_next().await {
        match outcome? {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

#[cfg(test)]
mod tests;
