//! Opening connections: directly or through a proxy, with TLS or without.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::error::{Error, ErrorKind, Result};
use crate::http::dial::dial;
use crate::http::head::Head;
use crate::http::proxy::{Http, Proxy, ProxyProtocol};
use crate::http::{Address, scratch, socks, tls};

/// A connection to a provider, or to the proxy in front of it.
#[derive(Debug)]
pub(super) enum Connection {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    /// A provider's TLS within that of a proxy.
    Twofold(Box<TlsStream<TlsStream<TcpStream>>>),
    #[cfg(any(test, feature = "fuzz"))]
    Scripted(crate::http::fuzz::Scripted),
}

impl Connection {
    /// Whether nothing is to be read. The event loop knows only what had come when it last looked, so the system is asked too:
    /// what a server sends in between is the answer to nobody's request, and must not become the answer to the next one.
    pub(super) fn is_silent(&mut self, cx: &mut Context<'_>) -> bool {
        scratch::is_quiet(self, cx) && !self.has_input()
    }

    /// Whether the system has bytes for this connection, or its end. Within TLS they may mean nothing, and are taken for a
    /// reason to open another connection all the same.
    fn has_input(&self) -> bool {
        let stream = match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => stream.get_ref().0,
            Self::Twofold(stream) => stream.get_ref().0.get_ref().0,
            #[cfg(any(test, feature = "fuzz"))]
            Self::Scripted(_) => return false,
        };
        let peeked = SockRef::from(stream).peek(&mut [MaybeUninit::uninit()]);
        !matches!(peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }
}

/// Connects within the deadline.
pub(super) async fn connect(
    address: &Address,
    proxy: Option<&Proxy>,
    deadline: Duration,
) -> Result<Connection> {
    match tokio::time::timeout(deadline, open(address, proxy)).await {
        Ok(connection) => connection,
        Err(_) => {
            let detail = format!("no connection to {address} within {deadline:?}");
            Err(Error::new(ErrorKind::ConnectTimeout, detail))
        }
    }
}

async fn open(address: &Address, proxy: Option<&Proxy>) -> Result<Connection> {
    let Some(proxy) = proxy else { return secured(address, dial(address).await?).await };
    let dialled = dial(&proxy.address).await;
    let mut stream = dialled.map_err(|error| ungiven(proxy, address, &error.to_string()))?;
    match &proxy.protocol {
        // Boxed, since two sessions of TLS would make the future of every request larger.
        ProxyProtocol::Http(http) if proxy.address.is_tls() => {
            return Box::pin(open_within(proxy, http, address, stream)).await;
        }
        ProxyProtocol::Http(http) if address.is_tls() => tunnel(&mut stream, http, address).await,
        // It takes the requests themselves.
        ProxyProtocol::Http(_) => Ok(()),
        ProxyProtocol::Socks(socks) => socks::ask(&mut stream, socks, address).await,
    }
    .map_err(|detail| ungiven(proxy, address, &detail))?;
    secured(address, stream).await
}

/// Opens TLS to the proxy, and within it to the address if that has it too.
async fn open_within(
    proxy: &Proxy,
    http: &Http,
    address: &Address,
    stream: TcpStream,
) -> Result<Connection> {
    let stream = tls::handshake(&proxy.address, stream).await;
    let mut stream = stream.map_err(|error| ungiven(proxy, address, &error.to_string()))?;
    if !address.is_tls() {
        return Ok(Connection::Tls(Box::new(stream)));
    }
    let asked = tunnel(&mut stream, http, address).await;
    asked.map_err(|detail| ungiven(proxy, address, &detail))?;
    let stream = tls::handshake(address, stream).await?;
    Ok(Connection::Twofold(Box::new(stream)))
}

/// A connection with TLS, if the address has it.
async fn secured(address: &Address, stream: TcpStream) -> Result<Connection> {
    if !address.is_tls() {
        return Ok(Connection::Plain(stream));
    }
    let stream = tls::handshake(address, stream).await?;
    Ok(Connection::Tls(Box::new(stream)))
}

fn ungiven(proxy: &Proxy, address: &Address, detail: &str) -> Error {
    let proxy = &proxy.address;
    let detail = format!("the proxy {proxy} gives no connection to {address}: {detail}");
    Error::new(ErrorKind::Connect, detail)
}

/// Asks an HTTP proxy for a connection to the address behind it. An error says why there is none.
async fn tunnel(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    http: &Http,
    address: &Address,
) -> Result<(), String> {
    let target = match address.host().contains(':') {
        true => format!("[{}]:{}", address.host(), address.port()),
        false => format!("{}:{}", address.host(), address.port()),
    };
    let credentials = match &http.credentials {
        Some(credentials) => format!("proxy-authorization: {credentials}\r\n"),
        None => String::new(),
    };
    let request = format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n{credentials}\r\n");
    let io = |error: io::Error| error.to_string();
    stream.write_all(request.as_bytes()).await.map_err(io)?;
    stream.flush().await.map_err(io)?;
    let mut received = Vec::new();
    loop {
        let length = scratch::read(stream, |bytes| {
            received.extend_from_slice(bytes);
            bytes.len()
        });
        if length.await.map_err(io)? == 0 {
            return Err("it closed the connection".into());
        }
        if let Some((head, length)) = Head::parse(&received).map_err(|error| error.to_string())? {
            return match head.status.is_success() {
                true if length == received.len() => Ok(()),
                // Whoever is behind it speaks only when it is spoken to.
                true => Err("it sends more than was asked for".into()),
                false => Err(format!("status {}", head.status)),
            };
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_read(cx, buffer),
            Self::Twofold(stream) => Pin::new(stream.as_mut()).poll_read(cx, buffer),
            #[cfg(any(test, feature = "fuzz"))]
            Self::Scripted(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_write(cx, bytes),
            Self::Twofold(stream) => Pin::new(stream.as_mut()).poll_write(cx, bytes),
            #[cfg(any(test, feature = "fuzz"))]
            Self::Scripted(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_write_vectored(cx, slices),
            Self::Twofold(stream) => Pin::new(stream.as_mut()).poll_write_vectored(cx, slices),
            #[cfg(any(test, feature = "fuzz"))]
            Self::Scripted(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
            Self::Twofold(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
            #[cfg(any(test, feature = "fuzz"))]
            Self::Scripted(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
            Self::Twofold(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
            #[cfg(any(test, feature = "fuzz"))]
            Self::Scripted(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
