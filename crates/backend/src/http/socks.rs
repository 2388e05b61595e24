//! SOCKS 5 (RFC 1928), with a name and a password if the proxy wants them (RFC 1929): asking for a connection, no more.

use std::net::IpAddr;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::http::Address;

const VERSION: u8 = 5;
const LOGIN_VERSION: u8 = 1;
const CONNECT: u8 = 1;
const SUCCEEDED: u8 = 0;

/// Ways to say who one is.
const ANYBODY: u8 = 0;
const BY_PASSWORD: u8 = 2;

/// Kinds of addresses.
const V4: u8 = 1;
const NAME: u8 = 3;
const V6: u8 = 4;

/// The login of a SOCKS proxy, and who looks up names.
#[derive(Clone)]
pub(super) struct Socks {
    pub(super) login: Option<Login>,
    pub(super) names: Names,
}

#[derive(Clone)]
pub(super) struct Login {
    pub(super) user: String,
    pub(super) password: String,
}

/// Where a host's name is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    Here,
    AtProxy,
}

/// Asks for a connection to the address; afterwards the stream is that connection. An error says why there is none, without
/// a secret.
pub(super) async fn ask(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    socks: &Socks,
    address: &Address,
) -> Result<(), String> {
    introduce(stream, socks.login.as_ref()).await?;
    let mut request = vec![VERSION, CONNECT, 0];
    request.extend(target(address, socks.names).await?);
    request.extend(address.port().to_be_bytes());
    stream.write_all(&request).await.map_err(broken)?;
    let [version, outcome, _, kind] = read(stream).await?;
    if version != VERSION {
        return Err(stranger());
    }
    if outcome != SUCCEEDED {
        return Err(refusal(outcome).to_owned());
    }
    // Where the proxy connects from is said at a length of its own, and of no use here.
    let length = match kind {
        V4 => 4,
        V6 => 16,
        NAME => usize::from(read::<1>(stream).await?[0]),
        _ => return Err(stranger()),
    };
    let mut place = vec![0; length + size_of::<u16>()];
    stream.read_exact(&mut place).await.map_err(broken)?;
    Ok(())
}

/// Agrees on a way to say who one is, and says it.
async fn introduce(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    login: Option<&Login>,
) -> Result<(), String> {
    let greeting: &[u8] = match login {
        Some(_) => &[VERSION, 2, ANYBODY, BY_PASSWORD],
        None => &[VERSION, 1, ANYBODY],
    };
    stream.write_all(greeting).await.map_err(broken)?;
    match (read(stream).await?, login) {
        ([VERSION, ANYBODY], _) => Ok(()),
        ([VERSION, BY_PASSWORD], Some(login)) => log_in(stream, login).await,
        ([VERSION, _], _) => {
            Err("it wants credentials, as in socks5://user:password@host:port".into())
        }
        _ => Err(stranger()),
    }
}

async fn log_in(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    login: &Login,
) -> Result<(), String> {
    let mut words = vec![LOGIN_VERSION];
    for word in [&login.user, &login.password] {
        words.extend(counted(word).ok_or("its user or password is longer than 255 bytes")?);
    }
    stream.write_all(&words).await.map_err(broken)?;
    match read(stream).await? {
        [_, SUCCEEDED] => Ok(()),
        [_, _] => Err("it does not take its user and password".into()),
    }
}

/// The host as a proxy gets it. Numbers need no looking up.
async fn target(address: &Address, names: Names) -> Result<Vec<u8>, String> {
    let host = address.host();
    if let Ok(number) = host.parse() {
        return Ok(numbered(number));
    }
    match names {
        Names::AtProxy => {
            let name = counted(host).ok_or("the host's name is longer than 255 bytes")?;
            Ok([vec![NAME], name].concat())
        }
        Names::Here => {
            let found = tokio::net::lookup_host((host, address.port())).await;
            let first = found.map_err(|error| error.to_string())?.next();
            Ok(numbered(first.ok_or("the host has no address")?.ip()))
        }
    }
}

fn numbered(number: IpAddr) -> Vec<u8> {
    match number {
        IpAddr::V4(number) => [&[V4], &number.octets()[..]].concat(),
        IpAddr::V6(number) => [&[V6], &number.octets()[..]].concat(),
    }
}

/// A word with its length before it.
fn counted(word: &str) -> Option<Vec<u8>> {
    let length = u8::try_from(word.len()).ok()?;
    Some([&[length], word.as_bytes()].concat())
}

async fn read<const N: usize>(stream: &mut (impl AsyncRead + Unpin)) -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).await.map_err(broken)?;
    Ok(bytes)
}

fn broken(error: std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => "it closed the connection".to_owned(),
        _ => error.to_string(),
    }
}

fn stranger() -> String {
    "it does not speak SOCKS 5".to_owned()
}

fn refusal(outcome: u8) -> &'static str {
    match outcome {
        2 => "its rules do not allow it",
        3 => "the network cannot be reached",
        4 => "the host cannot be reached",
        5 => "the host refused it",
        6 => "it took too long",
        7 | 8 => "it cannot do that",
        _ => "it failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Address {
        Address::of(&url.parse().unwrap()).unwrap()
    }

    fn login(password: &str) -> Option<Login> {
        Some(Login { user: "me".into(), password: password.into() })
    }

    /// A proxy that says `answers` must be told `expected`, and the asking come out so.
    fn check(socks: &Socks, answers: &[u8], (expected, outcome): (&[u8], Result<&[u8], &str>)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut near, mut far) = tokio::io::duplex(4_096);
            far.write_all(answers).await.unwrap();
            far.shutdown().await.unwrap();
            let asked = ask(&mut near, socks, &address("https://api.example.com")).await;
            let mut left = Vec::new();
            near.read_to_end(&mut left).await.unwrap();
            drop(near);
            let mut sent = Vec::new();
            far.read_to_end(&mut sent).await.unwrap();
            assert_eq!(sent, expected);
            assert_eq!(asked.as_ref().map(|()| &left[..]).map_err(String::as_str), outcome);
        });
    }

    const WANTED: &[u8] = b"\x05\x01\x00\x03\x0fapi.example.com\x01\xbb";

    #[test]
    fn a_connection_is_asked_for_and_nothing_behind_the_answer_is_taken() {
        let open = Socks { login: None, names: Names::AtProxy };
        let expected = [b"\x05\x01\x00", WANTED].concat();
        for place in
            [&b"\x01\0\0\0\0\0\0"[..], b"\x03\x02ab\0\0", &[b"\x04", &[0; 18][..]].concat()]
        {
            let answers = [b"\x05\x00\x05\x00\x00", place, b"hello"].concat();
            check(&open, &answers, (&expected, Ok(b"hello")));
        }
    }

    #[test]
    fn whoever_has_a_password_says_it_if_asked() {
        let socks = Socks { login: login("p@ss"), names: Names::AtProxy };
        let greeting = b"\x05\x02\x00\x02";
        let with_password = [&greeting[..], b"\x01\x02me\x04p@ss", WANTED].concat();
        let granted = b"\x05\x00\x00\x01\0\0\0\0\0\0";
        check(&socks, &[b"\x05\x02\x01\x00", &granted[..]].concat(), (&with_password, Ok(b"")));
        let without_password = [&greeting[..], WANTED].concat();
        check(&socks, &[b"\x05\x00", &granted[..]].concat(), (&without_password, Ok(b"")));
        let wrong = "it does not take its user and password";
        check(&socks, b"\x05\x02\x01\x01", (&with_password[..greeting.len() + 9], Err(wrong)));
    }

    #[test]
    fn what_a_proxy_refuses_is_told() {
        let open = Socks { login: None, names: Names::AtProxy };
        let greeted = b"\x05\x01\x00";
        let asked = [greeted, WANTED].concat();
        for (answers, sent, words) in [
            (
                &b"\x05\xff"[..],
                &greeted[..],
                "it wants credentials, as in socks5://user:password@host:port",
            ),
            (b"\x05\x02", greeted, "it wants credentials, as in socks5://user:password@host:port"),
            (b"HTTP/1.1 400", greeted, "it does not speak SOCKS 5"),
            (b"", greeted, "it closed the connection"),
            (b"\x05\x00\x05\x02\x00\x01", &asked, "its rules do not allow it"),
            (b"\x05\x00\x05\x05\x00\x01", &asked, "the host refused it"),
            (b"\x05\x00\x05\x00\x00\x09", &asked, "it does not speak SOCKS 5"),
        ] {
            check(&open, answers, (sent, Err(words)));
        }
        let long = Socks { login: login(&"x".repeat(256)), names: Names::AtProxy };
        let words = "its user or password is longer than 255 bytes";
        check(&long, b"\x05\x02", (b"\x05\x02\x00\x02", Err(words)));
    }

    #[test]
    fn names_are_looked_up_where_the_scheme_says() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for (url, names, expected) in [
                ("http://192.0.2.7", Names::AtProxy, &b"\x01\xc0\x00\x02\x07"[..]),
                ("http://192.0.2.7", Names::Here, b"\x01\xc0\x00\x02\x07"),
                ("http://localhost", Names::AtProxy, b"\x03\x09localhost"),
            ] {
                assert_eq!(target(&address(url), names).await.unwrap(), expected, "{url}");
            }
            let here = target(&address("http://localhost"), Names::Here).await.unwrap();
            let loopback = ["127.0.0.1", "::1"].map(|it| numbered(it.parse().unwrap()));
            assert!(loopback.contains(&here), "{here:?}");
        });
    }
}
