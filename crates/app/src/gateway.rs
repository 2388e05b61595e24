//! The gateway that a command works on: one that runs already, else one in this process for as long as the command does.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use anyhow::{Context, Result};
use sabir_backend::http::Proxies;
use sabir_gateway::Gateway;
use sabir_gateway::config::types::Config;
use sabir_gateway::server::{Server, Stop};

/// A gateway that answers.
#[derive(Debug)]
pub(crate) enum Running {
    /// Somebody else's, which outlives the command.
    Found(SocketAddr),
    /// In this process.
    Hosted(Hosted),
}

/// A gateway in this process, on a thread of its own.
#[derive(Debug)]
pub(crate) struct Hosted {
    address: SocketAddr,
    stop: Stop,
    /// Closed when the gateway has ended.
    ended: Receiver<()>,
}

/// How long a gateway may take to end once nobody needs it: enough to write down what it was asked last.
const END_WAIT_MAX: Duration = Duration::from_secs(2);

impl Running {
    /// Finds the configured gateway, or starts one on a free port of this machine's own address.
    pub(crate) fn find_or_start(config: &Config) -> Result<Self> {
        match find(config) {
            Some(address) => Ok(Self::Found(address)),
            None => start(config.clone()).map(Self::Hosted),
        }
    }

    /// Why nothing that is kept outlives this process, if so.
    pub(crate) fn forgets(&self, config: &Config) -> Option<String> {
        let forgets = matches!(self, Self::Hosted(_)) && config.store.is_in_memory();
        forgets.then(|| {
            format!(
                "`url = \"memory:\"` in [store] keeps conversations as long as a gateway runs, and none runs at {}; \
                 start `sabir serve`, or set `url = \"sqlite:\"`",
                configured_address(config)
            )
        })
    }

    /// Ends a gateway that is this process's own.
    pub(crate) fn end(self) {
        if let Self::Hosted(hosted) = self {
            hosted.end();
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        match self {
            Self::Found(address) | Self::Hosted(Hosted { address, .. }) => *address,
        }
    }
}

impl Hosted {
    /// Ends the gateway, so that what it keeps of the last calls is written.
    pub(crate) fn end(self) {
        self.stop.stop();
        let _ = self.ended.recv_timeout(END_WAIT_MAX);
    }
}

/// Where a client on this machine reaches the configured gateway, whether it runs or not.
pub(crate) fn configured_address(config: &Config) -> SocketAddr {
    reachable(config.listen)
}

/// Where a client on this machine reaches a server that listens there: `0.0.0.0` is no place to go to.
pub(crate) fn reachable(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listening.port())
}

/// The address of the configured gateway, if it answers there.
pub(crate) fn find(config: &Config) -> Option<SocketAddr> {
    let address = configured_address(config);
    (address.port() != 0 && answers(address).unwrap_or(false)).then_some(address)
}

/// Enough for a gateway on the same machine; where nothing listens the refusal comes at once.
const PROBE_TIMEOUT: Duration = Duration::from_millis(500);

/// How the gateway's own page begins.
const GREETING: &str = "Sabir is running";

/// No answer is longer than this that could be the gateway's.
const PROBE_BYTES_MAX: u64 = 4096;

/// Whether a gateway answers, and not just anything that speaks HTTP.
fn answers(address: SocketAddr) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&address, PROBE_TIMEOUT)?;
    stream.set_read_timeout(Some(PROBE_TIMEOUT))?;
    stream.set_write_timeout(Some(PROBE_TIMEOUT))?;
    write!(stream, "GET / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(PROBE_BYTES_MAX).read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
    Ok(body.is_some_and(|body| body.contains(GREETING)))
}

fn start(mut config: Config) -> Result<Hosted> {
    config.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let proxies = Proxies::of(&|name| std::env::var(name).ok());
    let server = Server::bind(Gateway::open(config, None)?, proxies)?;
    let (address, stop) = (server.address(), server.stop_handle());
    let (end, ended) = mpsc::channel();
    let serve = move || {
        let _ = server.run_until_stopped();
        drop(end);
    };
    // Nobody joins the thread: it ends with the process, whose exit code is the command's.
    let thread = std::thread::Builder::new().name("sabir-gateway".to_owned());
    thread.spawn(serve).context("cannot start the gateway")?;
    Ok(Hosted { address, stop, ended })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use sabir_backend::Secret;
    use sabir_gateway::config::types::Store;

    use super::*;

    #[test]
    fn a_gateway_is_told_from_other_servers() {
        let store = Store { url: Secret::new("memory:"), ..Store::default() };
        let hosted = start(Config { store, ..Config::default() }).unwrap();
        let config = Config { listen: hosted.address, ..Config::default() };
        assert_eq!(find(&config), Some(hosted.address));
        hosted.end();
        assert_eq!(find(&config), None);

        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap();
        let stranger = std::thread::spawn(move || {
            let (mut client, _) = other.accept().unwrap();
            let _ = client.read(&mut [0; 512]);
            let _ = client.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        });
        assert_eq!(find(&Config { listen: address, ..Config::default() }), None);
        stranger.join().unwrap();
    }

    #[test]
    fn a_gateway_for_all_addresses_is_reached_at_this_machines_own() {
        let reached = |listen: &str| {
            let listen = listen.parse().unwrap();
            configured_address(&Config { listen, ..Config::default() }).to_string()
        };
        assert_eq!(reached("0.0.0.0:80"), "127.0.0.1:80");
        assert_eq!(reached("[::]:80"), "[::1]:80");
        assert_eq!(reached("192.0.2.1:80"), "192.0.2.1:80");
    }
}
