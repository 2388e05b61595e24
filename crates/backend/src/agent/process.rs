//! A running process: what is written to it and what it says, both at the same time, within limits. Dropping it ends it.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite as _, ReadBuf};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use super::leader::Leader;

/// How long a line may be: images and results of tools stand in one.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How much is kept of what a process complains about: its last words.
const COMPLAINT_BYTES_MAX: usize = 8 * 1024;

/// How many calls a process has: each leaves some memory behind.
const USES_MAX: u32 = 100;

/// How long a process may go on that has closed its output.
const LINGER_MAX: Duration = Duration::from_secs(5);

const CHUNK_BYTES: usize = 64 * 1024;

/// How many lines are read before others have their turn, and how many chunks of complaints: a process may write faster than anybody
/// reads, and time would not pass for its answer.
const LINES_MAX: u32 = 256;
const COMPLAINTS_MAX: usize = 4;

/// A process that works for a call.
pub(super) struct Process {
    input: Option<pipe::Sender>,
    outbox: Vec<u8>,
    written: usize,
    /// Whether nothing more will be written.
    is_closing: bool,
    output: pipe::Receiver,
    held: Vec<u8>,
    /// Where the next line begins, and how far its end was looked for.
    start: usize,
    scanned: usize,
    has_ended: bool,
    complaints: Option<pipe::Receiver>,
    complaint: Vec<u8>,
    scratch: Box<[u8]>,
    /// How many lines were read since others had their turn.
    lines: u32,
    owned: Owned,
    uses: u32,
}

/// What a process is beside its pipes.
struct Owned {
    ending: Ending,
    exit: oneshot::Receiver<Option<i32>>,
    folder: PathBuf,
}

/// Ends its process when it goes.
struct Ending(Arc<Leader>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A process that waits for a call: nobody listens to it.
pub(super) struct Resting {
    input: OwnedFd,
    output: OwnedFd,
    complaints: OwnedFd,
    /// What it said that nobody has read yet.
    held: Vec<u8>,
    owned: Owned,
    uses: u32,
}

impl Resting {
    pub(super) fn new(
        (input, output, complaints): (ChildStdin, ChildStdout, ChildStderr),
        leader: Arc<Leader>,
        (exit, folder): (oneshot::Receiver<Option<i32>>, PathBuf),
    ) -> Self {
        let owned = Owned { ending: Ending(leader), exit, folder };
        let (input, output, complaints) = (input.into(), output.into(), complaints.into());
        Self { input, output, complaints, held: Vec::new(), owned, uses: 0 }
    }

    /// Whether it ended meanwhile.
    pub(super) fn is_gone(&self) -> bool {
        self.owned.ending.0.is_gone()
    }

    /// Has whoever calls listen to it.
    pub(super) fn wake(self) -> io::Result<Process> {
        let Self { input, output, complaints, held, owned, uses } = self;
        let input = pipe::Sender::from_owned_fd(input)?;
        let output = pipe::Receiver::from_owned_fd(output)?;
        let complaints = pipe::Receiver::from_owned_fd(complaints)?;
        Ok(Process {
            input: Some(input),
            outbox: Vec::new(),
            written: 0,
            is_closing: false,
            output,
            held,
            start: 0,
            scanned: 0,
            has_ended: false,
            complaints: Some(complaints),
            complaint: Vec::new(),
            scratch: vec![0; CHUNK_BYTES].into(),
            lines: 0,
            owned,
            uses,
        })
    }
}

impl Process {
    /// Its own folder.
    pub(super) fn folder(&self) -> &Path {
        &self.owned.folder
    }

    /// How many calls it has had before.
    pub(super) fn uses(&self) -> u32 {
        self.uses
    }

    /// Lets it wait for another call, if it has heard all and can say more.
    pub(super) fn rest(mut self) -> Option<Resting> {
        // The last answers may not have been written yet: whoever reads what is there already does not come back to write.
        self.poll_input(&mut Context::from_waker(Waker::noop()));
        if self.written < self.outbox.len() || self.is_closing || self.has_ended {
            return None;
        }
        let input = self.input?.into_nonblocking_fd().ok()?;
        let output = self.output.into_nonblocking_fd().ok()?;
        let complaints = self.complaints?.into_nonblocking_fd().ok()?;
        let (uses, owned) = (self.uses + 1, self.owned);
        let mut held = self.held;
        held.drain(..self.start);
        (uses < USES_MAX).then_some(Resting { input, output, complaints, held, owned, uses })
    }

    /// Has something written, while what the process says is read.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        if self.input.is_some() {
            self.outbox.extend_from_slice(bytes);
        }
    }

    /// Has a line written.
    pub(super) fn send_line(&mut self, line: &str) {
        self.send(line.as_bytes());
        self.send(b"\n");
    }

    /// Has all of the input written, which ends with it.
    pub(super) fn send_all(&mut self, bytes: &[u8]) {
        self.send(bytes);
        self.is_closing = true;
    }

    /// The next line without its end; none where there are no more.
    pub(super) async fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        poll_fn(|cx| self.poll_line(cx)).await
    }

    /// Whatever comes next, at most a chunk; nothing at the end.
    pub(super) async fn chunk(&mut self) -> io::Result<Vec<u8>> {
        poll_fn(|cx| {
            ready!(self.poll_output(cx))?;
            Poll::Ready(Ok(std::mem::take(&mut self.held)))
        })
        .await
    }

    /// Waits for its end: the exit code, if it had one. One that goes on although it can say no more is ended.
    pub(super) async fn exit(&mut self) -> Option<i32> {
        if let Ok(code) = tokio::time::timeout(LINGER_MAX, self.ended()).await {
            return code;
        }
        self.owned.ending.0.end();
        self.ended().await
    }

    async fn ended(&mut self) -> Option<i32> {
        poll_fn(|cx| {
            self.poll_input(cx);
            self.poll_complaints(cx);
            Pin::new(&mut self.owned.exit).poll(cx)
        })
        .await
        .ok()
        .flatten()
    }

    /// Its last words to whoever watches a terminal. They may hold anything: never shown, only looked at.
    pub(super) fn complaint(&self) -> String {
        String::from_utf8_lossy(&self.complaint).into_owned()
    }

    pub(super) fn poll_line(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Vec<u8>>>> {
        if self.lines >= LINES_MAX {
            self.lines = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.lines += 1;
        let line = self.poll_whole_line(cx);
        if line.is_pending() {
            self.lines = 0;
        }
        line
    }

    fn poll_whole_line(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Vec<u8>>>> {
        loop {
            let from = self.scanned.max(self.start);
            if let Some(found) = memchr::memchr(b'\n', &self.held[from..]) {
                let end = from + found;
                let line = self.held[self.start..end].to_vec();
                (self.start, self.scanned) = (end + 1, end + 1);
                return Poll::Ready(Ok(Some(line)));
            }
            self.held.drain(..self.start);
            (self.start, self.scanned) = (0, self.held.len());
            if self.held.len() > LINE_BYTES_MAX {
                return Poll::Ready(Err(too_long()));
            }
            if self.has_ended {
                let rest = std::mem::take(&mut self.held);
                self.scanned = 0;
                return Poll::Ready(Ok((!rest.is_empty()).then_some(rest)));
            }
            ready!(self.poll_output(cx))?;
        }
    }

    /// Reads more of the output, and sees to the other two pipes meanwhile.
    fn poll_output(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_input(cx);
        self.poll_complaints(cx);
        if self.has_ended {
            return Poll::Ready(Ok(()));
        }
        let read = ready!(poll_read(&mut self.output, cx, (&mut self.scratch, &mut self.held)))?;
        self.has_ended = read == 0;
        Poll::Ready(Ok(()))
    }

    /// Writes what can be written. A process that does not listen any more may still answer.
    fn poll_input(&mut self, cx: &mut Context<'_>) {
        while let Some(input) = &mut self.input {
            if self.written == self.outbox.len() {
                self.outbox.clear();
                self.written = 0;
                if self.is_closing {
                    self.input = None;
                }
                return;
            }
            match Pin::new(input).poll_write(cx, &self.outbox[self.written..]) {
                Poll::Ready(Ok(written)) => self.written += written,
                Poll::Ready(Err(_)) => {
                    self.input = None;
                    self.outbox = Vec::new();
                }
                Poll::Pending => return,
            }
        }
    }

    /// Reads what is complained about, and keeps the end of it.
    fn poll_complaints(&mut self, cx: &mut Context<'_>) {
        for _ in 0..COMPLAINTS_MAX {
            let Some(complaints) = &mut self.complaints else { return };
            match poll_read(complaints, cx, (&mut self.scratch, &mut self.complaint)) {
                Poll::Ready(Ok(1..)) => {
                    let beyond = self.complaint.len().saturating_sub(COMPLAINT_BYTES_MAX);
                    self.complaint.drain(..beyond);
                }
                Poll::Ready(Ok(0) | Err(_)) => self.complaints = None,
                Poll::Pending => return,
            }
        }
        cx.waker().wake_by_ref();
    }
}

fn poll_read(
    pipe: &mut pipe::Receiver,
    cx: &mut Context<'_>,
    (scratch, into): (&mut [u8], &mut Vec<u8>),
) -> Poll<io::Result<usize>> {
    let mut buffer = ReadBuf::new(scratch);
    ready!(Pin::new(pipe).poll_read(cx, &mut buffer))?;
    into.extend_from_slice(buffer.filled());
    Poll::Ready(Ok(buffer.filled().len()))
}

fn too_long() -> io::Error {
    let message = format!("a line of more than {} MiB", LINE_BYTES_MAX / 1024 / 1024);
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

/// Says how much there is, never what.
impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Process({} bytes to write, {} read)", self.outbox.len(), self.held.len())
    }
}
