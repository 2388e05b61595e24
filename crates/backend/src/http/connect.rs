//! Opening connections: directly or through a proxy, with TLS or without.

use std::io;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::time::Duration;

use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio::io::AsyncWriteExt;
use tokio::io::ReadBuf;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::error::Error;
use crate::error::ErrorKind;
use crate::error::Result;
use crate::http::Address;
use crate::http::head::Head;
use crate::http::proxy::Proxy;
use crate::http::scratch;
use crate::http::tls;

/// A connection to a provider, or to the proxy in front of it.
#[derive(Debug)]
pub(super) enum Connection {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
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
    let stream = match proxy {
        None => dial(address).await?,
        Some(proxy) if address.is_tls() => tunnel(proxy, address).await?,
        Some(proxy) => dial(&proxy.address).await?,
    };
    if address.is_tls() {
        let stream = tls::handshake(address.host(), stream).await?;
        return Ok(Connection::Tls(Box::new(stream)));
    }
    Ok(Connection::Plain(stream))
}

async fn dial(address: &Address) -> Result<TcpStream> {
    let failed = |error: io::Error| {
        Error::new(ErrorKind::Connect, format!("no connection to {address}: {error}"))
    };
    let stream = TcpStream::connect((address.host(), address.port())).await.map_err(failed)?;
    // Without this a small write waits for the acknowledgement of the one before: 40 ms on every lone stream.
    stream.set_nodelay(true).map_err(failed)?;
    Ok(stream)
}

/// Asks a proxy for a connection to the address behind it.
async fn tunnel(proxy: &Proxy, address: &Address) -> Result<TcpStream> {
    let mut stream = dial(&proxy.address).await?;
    let failed = |detail: String| {
        let detail =
            format!("the proxy {} gives no connection to {address}: {detail}", proxy.address);
        Error::new(ErrorKind::Connect, detail)
    };
    let target = match address.host().contains(':') {
        true => format!("[{}]:{}", address.host(), address.port()),
        false => format!("{}:{}", address.host(), address.port()),
    };
    let credentials = match &proxy.credentials {
        Some(credentials) => format!("proxy-authorization: {credentials}\r\n"),
        None => String::new(),
    };
    let request = format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n{credentials}\r\n");
    let io = |error: io::Error| failed(error.to_string());
    stream.write_all(request.as_bytes()).await.map_err(io)?;
    let mut received = Vec::new();
    loop {
        let length = scratch::read(&mut stream, |bytes| {
            received.extend_from_slice(bytes);
            bytes.len()
        });
        if length.await.map_err(io)? == 0 {
            return Err(failed("it closed the connection".into()));
        }
        if let Some((head, _)) = Head::parse(&received)? {
            return match head.status.is_success() {
                true => Ok(stream),
                false => Err(failed(format!("status {}", head.status))),
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
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
        }
    }
}
