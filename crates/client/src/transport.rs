//! The way to one server: what every request carries, how long it is waited for, and how much is read.

use std::time::Duration;

use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use sabir_backend::Secret;
use sabir_backend::http as wire_http;
use sabir_backend::http::{Address, Afterwards, Body, HttpResponse, Outgoing, Proxies};
use sabir_wire::Protocol;

use crate::error::{Error, ErrorKind, Result};

/// How long a server is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the request to the head of its answer: a model may think for long before the first word.
    pub first_byte: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(600),
            idle: Duration::from_secs(120),
        }
    }
}

/// How much of an answer is read.
pub(crate) const ANSWER_BYTES_MAX: usize = 64 << 20;

/// How much of an error is read.
const ERROR_BYTES_MAX: usize = 1 << 20;

/// A server and how it is asked. Clones share their connections, and stay on one thread.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    http: wire_http::Client,
    address: Address,
    pub(crate) key: Option<Secret>,
    pub(crate) timeouts: Timeouts,
    pub(crate) headers: HeaderMap,
}

impl Transport {
    /// The way to the host of a URL, and the path that the URL has.
    pub(crate) fn to(url: &str) -> Result<(Self, String)> {
        let refused = |text: &str| Error::invalid(format!("the base URL {text}"));
        let uri: Uri = url.trim().parse().map_err(|_| refused(NO_URL))?;
        let address = Address::of(&uri).ok_or_else(|| refused(NO_URL))?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(refused("must not hold a user or a password: give a key instead"));
        }
        if uri.query().is_some() || url.contains('#') {
            return Err(refused("must not have a query or a fragment"));
        }
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static(SELF));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let proxies = Proxies::of(&|name| std::env::var(name).ok());
        let http = wire_http::Client::new(proxies);
        let timeouts = Timeouts::default();
        let path = uri.path().trim_end_matches('/').to_owned();
        Ok((Self { http, address, key: None, timeouts, headers }, path))
    }

    /// Sets a header of every request.
    pub(crate) fn set_header(&mut self, name: &str, value: &str) -> Result<()> {
        let wrong = |_| Error::invalid(format!("`{name}` cannot be a header with this value"));
        let name = HeaderName::try_from(name).map_err(|error| wrong(error.into()))?;
        let value = HeaderValue::from_bytes(value.as_bytes())
            .map_err(|error: http::header::InvalidHeaderValue| wrong(http::Error::from(error)))?;
        self.headers.insert(name, value);
        Ok(())
    }

    /// Sets the key, which only `Debug` and errors do not show.
    pub(crate) fn set_key(&mut self, key: &str, (name, scheme): KeyPlace) -> Result<()> {
        let value = match scheme {
            Some(scheme) => format!("{scheme} {key}"),
            None => key.to_owned(),
        };
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| Error::invalid("the key holds characters that no header can have"))?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        self.key = Some(Secret::new(key));
        Ok(())
    }

    /// Sends a request and returns its answer, unless that is an error.
    pub(crate) async fn send(&self, ask: &Ask<'_>) -> Result<HttpResponse> {
        let mut headers = self.headers.clone();
        if !ask.body.is_empty() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        headers.insert(ACCEPT, HeaderValue::from_static(ask.accept));
        let outgoing = Outgoing {
            method: &ask.method,
            address: &self.address,
            path: &ask.path,
            headers: &headers,
            body: &[ask.body.as_bytes()],
            afterwards: Afterwards::Keep,
        };
        let Timeouts { connect, first_byte, .. } = self.timeouts;
        let response =
            self.http.send(&outgoing, wire_http::Timeouts { connect, first_byte }).await?;
        match response.status.is_success() {
            true => Ok(response),
            false => Err(self.refusal(response, ask.protocol).await),
        }
    }

    /// The error that an answer states. What stands in place of one is not shown: it may be a page of a proxy.
    async fn refusal(&self, mut response: HttpResponse, protocol: Protocol) -> Error {
        let status = response.status.as_u16();
        let retry_after = response.headers.get(RETRY_AFTER).and_then(|it| it.to_str().ok());
        let retry_after_s = retry_after.and_then(|seconds| seconds.trim().parse().ok());
        let body = self.read(&mut response.body, ERROR_BYTES_MAX).await.unwrap_or_default();
        let fault = protocol.decode_fault(status, &body);
        let error = Error::of_fault(&fault, Some(status), self.key.as_ref());
        error.with_retry_after_s(retry_after_s)
    }

    /// The rest of a body.
    pub(crate) async fn read(&self, body: &mut Body, bytes_max: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.read_piece(body).await? {
            if bytes.len() + piece.len() > bytes_max {
                return Err(too_large(bytes_max));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    /// The next bytes of a body. Nothing is lost where this is dropped before it is done.
    pub(crate) async fn read_piece(&self, body: &mut Body) -> Result<Option<Vec<u8>>> {
        let mut piece = Vec::new();
        let reading = std::future::poll_fn(|cx| {
            body.poll_data(cx, &mut |bytes| piece.extend_from_slice(bytes))
        });
        match tokio::time::timeout(self.timeouts.idle, reading).await {
            Ok(None) => Ok(None),
            Ok(Some(outcome)) => {
                outcome?;
                Ok(Some(piece))
            }
            Err(_) => {
                let text = format!("nothing came for {:?}", self.timeouts.idle);
                Err(Error::new(ErrorKind::Timeout, text))
            }
        }
    }
}

/// A request.
pub(crate) struct Ask<'a> {
    pub(crate) method: Method,
    /// With its query.
    pub(crate) path: String,
    pub(crate) body: &'a str,
    pub(crate) accept: &'static str,
    /// Whose shape an error has.
    pub(crate) protocol: Protocol,
}

/// The header of a key, and the scheme before the key in it.
pub(crate) type KeyPlace = (HeaderName, Option<&'static str>);

const SELF: &str = concat!("sabir-client/", env!("CARGO_PKG_VERSION"));

const NO_URL: &str =
    "must have http:// or https:// and a host, as in \"https://api.openai.com/v1\"";

pub(crate) fn too_large(bytes_max: usize) -> Error {
    Error::new(ErrorKind::TooLarge, format!("the answer has more than {bytes_max} bytes"))
}
