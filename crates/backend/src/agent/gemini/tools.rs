//! The client's tools, as a server of tools on a socket of its own, below a path that nobody else knows. It lists them; a call never gets
//! as far, since the CLI asks before each and is told no: calls are the client's.

use std::convert::Infallible;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use sabir_wire::Result;
use sabir_wire::json::{Json, Kind, Reader, Writer};
use tokio::net::{TcpListener, TcpStream};

use crate::agent::faults::Failed;
use crate::agent::json;
use crate::agent::json::{member, string, text};
use crate::agent::schema;

/// The name of the server, which the CLI puts before the names of its tools.
pub(super) const SERVER: &str = "sabir";

const PREFIX: &str = "mcp_sabir_";

/// Longer names are cut in their middle by the CLI.
const NAME_BYTES_MAX: usize = 63;

/// What the CLI adds to every schema, and its model to calls.
const ADDED: &str = "wait_for_previous";

/// Who speaks to the server opens few connections and says little.
const CONNECTIONS_MAX: usize = 8;
const BODY_BYTES_MAX: usize = 64 * 1024;

/// A tool of the client.
#[derive(Debug, Default)]
pub(super) struct Tool {
    name: String,
    description: Option<String>,
    schema: Option<String>,
}

/// The name under which the CLI's model sees a tool.
pub(in crate::agent) fn seen(name: &str) -> String {
    format!("{PREFIX}{}", listed(name))
}

/// The name under which a tool is listed: its own, or where the CLI would change that, its beginning and a number that depends on the
/// whole.
fn listed(name: &str) -> String {
    let room = NAME_BYTES_MAX - PREFIX.len();
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.' | ':');
    if name.len() <= room && name.chars().all(is_plain) {
        return name.to_owned();
    }
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let beginning: String = name.chars().filter(|it| is_plain(*it)).take(room - 17).collect();
    format!("{beginning}_{:016x}", hasher.finish())
}

impl Tool {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut tool = Self::default();
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("name", Kind::String) => tool.name = string(reader)?,
                ("description", Kind::String) => tool.description = Some(string(reader)?),
                ("parametersJsonSchema" | "parameters", Kind::Object) => {
                    tool.schema = Some(reader.raw()?.as_str().to_owned());
                }
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(tool)
    }

    /// Whether the CLI takes it, and with it the others.
    pub(super) fn check(&self) -> Result<(), Failed> {
        schema::check(&self.name, self.schema.as_deref())
    }

    fn write(&self, writer: &mut Writer) {
        writer.object(|it| {
            it.field("name", &listed(&self.name));
            it.optional("description", self.description.as_ref());
            it.key("inputSchema");
            schema::write(self.schema.as_deref(), it);
        });
    }
}

/// A call as the client knows it: under its own name, and without what the CLI added.
pub(super) fn called(tools: &[Tool], name: &str, arguments: &Json<'_>) -> (String, String) {
    let tool = tools.iter().find(|tool| seen(&tool.name) == name);
    let own = tool.map_or_else(|| name.strip_prefix(PREFIX).unwrap_or(name), |tool| &tool.name);
    let knows = tool.and_then(|tool| tool.schema.as_ref()).is_some_and(|it| it.contains(ADDED));
    if knows || arguments.kind() != Kind::Object {
        return (own.to_owned(), arguments.as_str().to_owned());
    }
    let mut writer = Writer::default();
    writer.begin_object();
    // It was read as JSON before.
    let _ = arguments.reader().object(|key, reader| {
        let value = reader.raw()?;
        if &*key != ADDED {
            writer.field(&key, &value);
        }
        Ok(())
    });
    writer.end_object();
    (own.to_owned(), writer.into_string())
}

/// The server, which works when it is polled and is gone when it is dropped.
pub(super) struct Server {
    listener: TcpListener,
    offer: Arc<Offer>,
    connections: Vec<Connection>,
    url: String,
}

type Connection = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What is offered, and where.
struct Offer {
    path: String,
    /// The tools, as JSON.
    list: String,
}

impl Server {
    pub(super) async fn start(tools: &[Tool]) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let path = format!("/{}", secret()?);
        let url = format!("http://{}{path}", listener.local_addr()?);
        let mut list = Writer::default();
        list.array(|it| tools.iter().for_each(|tool| tool.write(it)));
        let offer = Arc::new(Offer { path, list: list.into_string() });
        Ok(Self { listener, offer, connections: Vec::new(), url })
    }

    /// The entry of the server among those of a session.
    pub(super) fn write(&self, writer: &mut Writer) {
        writer.object(|it| {
            it.field("type", "http");
            it.field("name", SERVER);
            it.field("url", &self.url);
            it.array_field("headers", |_| {});
        });
    }

    /// Does what there is to do.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) {
        while let Poll::Ready(Ok((stream, _))) = self.listener.poll_accept(cx) {
            // Beyond the limit the oldest goes: the CLI opens another where it needs one.
            if self.connections.len() >= CONNECTIONS_MAX {
                drop(self.connections.remove(0));
            }
            self.connections.push(Box::pin(connection(stream, Arc::clone(&self.offer))));
        }
        self.connections.retain_mut(|connection| connection.as_mut().poll(cx).is_pending());
    }
}

async fn connection(stream: TcpStream, offer: Arc<Offer>) {
    let service = service_fn(|request| respond(Arc::clone(&offer), request));
    // An error is a client that left.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(
    offer: Arc<Offer>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    if head.uri.path() != offer.path {
        return Ok(status(StatusCode::NOT_FOUND));
    }
    if head.method != Method::POST {
        return Ok(status(StatusCode::METHOD_NOT_ALLOWED));
    }
    let Ok(body) = Limited::new(body, BODY_BYTES_MAX).collect().await else {
        return Ok(status(StatusCode::PAYLOAD_TOO_LARGE));
    };
    let message = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    Ok(match Json::parse(message).ok().and_then(|message| offer.answer(&message)) {
        Some(answer) => {
            let mut response = Response::new(Full::new(answer.into()));
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            response
        }
        None => status(StatusCode::ACCEPTED),
    })
}

fn status(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

impl Offer {
    /// The answer to a message; a notification has none.
    fn answer(&self, message: &Json<'_>) -> Option<String> {
        let id = member(message, "id")?;
        let method = text(message, "method")?;
        let params = member(message, "params");
        let version = params.and_then(|params| text(&params, "protocolVersion"));
        let mut writer = Writer::default();
        writer.object(|it| {
            it.field("jsonrpc", "2.0");
            it.field("id", &id);
            match method.as_str() {
                "initialize" => it.object_field("result", |it| {
                    it.optional("protocolVersion", version.as_ref());
                    it.object_field("capabilities", |it| it.object_field("tools", |_| {}));
                    it.object_field("serverInfo", |it| {
                        it.field("name", SERVER);
                        it.field("version", env!("CARGO_PKG_VERSION"));
                    });
                }),
                "tools/list" => it.object_field("result", |it| {
                    it.key("tools");
                    json::write(&self.list, it);
                }),
                "ping" => it.object_field("result", |_| {}),
                _ => it.object_field("error", |it| {
                    it.field("code", &-32601_i64);
                    it.field("message", "the client answers");
                }),
            }
        });
        Some(writer.into_string())
    }
}

/// Enough that nobody guesses it.
fn secret() -> io::Result<String> {
    let mut bytes = [0_u8; 24];
    let filled = rustls::crypto::ring::default_provider().secure_random.fill(&mut bytes);
    filled.map_err(|_| io::Error::other("the system gives no random bytes"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Where it is stays its own.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({} connections)", self.connections.len())
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// What the server answers to a request, which it is polled for.
    async fn answer(server: &mut Server, request: String) -> String {
        let address = server.listener.local_addr().unwrap();
        let mut asking = Box::pin(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut reply = String::new();
            stream.read_to_string(&mut reply).await.unwrap();
            reply
        });
        poll_fn(|cx| {
            server.poll(cx);
            asking.as_mut().poll(cx)
        })
        .await
    }

    fn request(line: &str, body: &str) -> String {
        let length = body.len();
        format!(
            "{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    }

    #[test]
    fn tools_are_called_by_their_own_names_whatever_the_cli_shows() {
        let names = ["Bash", "a.b:c-d", "größe", "a b", "a/b", "\u{1f600}", &"n".repeat(80)];
        let tools = names.map(|name| Tool { name: name.to_owned(), ..Tool::default() });
        let shown: Vec<String> = names.iter().map(|name| seen(name)).collect();
        for (name, shown) in names.iter().zip(&shown) {
            let fits = |it: u8| it.is_ascii_alphanumeric() || b"_-.:".contains(&it);
            assert!(shown.len() <= NAME_BYTES_MAX && shown.bytes().all(fits), "{shown}");
            assert_eq!(called(&tools, shown, &Json::literal("{}")).0, *name);
        }
        let apart: std::collections::BTreeSet<_> = shown.iter().collect();
        assert_eq!(apart.len(), names.len());
    }

    #[tokio::test]
    async fn tools_are_listed_to_whoever_knows_where_and_calls_are_nobodys() {
        let tool = r#"{"name":"Bash","description":"runs","parametersJsonSchema":{"type":"object","properties":{"b":{},"a":{}}}}"#;
        let tool = Tool::read(&mut Reader::new(tool)).unwrap();
        let mut server = Server::start(&[tool]).await.unwrap();
        let post = format!("POST {}", server.offer.path);
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let reply = answer(&mut server, request(&post, list)).await;
        assert!(reply.ends_with(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"Bash","description":"runs","inputSchema":{"type":"object","properties":{"b":{},"a":{}}}}]}}"#), "{reply}");
        let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
        let reply = answer(&mut server, request(&post, hello)).await;
        assert!(reply.contains(r#""protocolVersion":"2025-06-18""#), "{reply}");
        let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Bash"}}"#;
        assert!(answer(&mut server, request(&post, call)).await.contains("-32601"));
        for (line, body, status) in [
            ("POST /elsewhere", list, "404"),
            ("GET /", "", "404"),
            (post.replace("POST", "GET").as_str(), "", "405"),
            (post.as_str(), r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "202"),
            (post.as_str(), "no JSON", "202"),
            (post.as_str(), &" ".repeat(BODY_BYTES_MAX + 1), "413"),
        ] {
            let reply = answer(&mut server, request(line, body)).await;
            assert!(reply.starts_with(&format!("HTTP/1.1 {status}")), "{line}: {reply}");
        }
        assert!(server.connections.is_empty());
        assert!(!format!("{server:?}").contains(&server.offer.path[1..]));
    }
}
