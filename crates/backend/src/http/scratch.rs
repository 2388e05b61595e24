//! One buffer for each thread to read sockets into: what has been read is used at once, so no stream needs its own.

use std::cell::RefCell;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

const SCRATCH_BYTES: usize = 64 * 1024;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Reads once and hands over what came; an empty slice is the end.
pub(super) fn poll_read<T>(
    io: &mut (impl AsyncRead + Unpin),
    cx: &mut Context<'_>,
    take: impl FnOnce(&[u8]) -> T,
) -> Poll<std::io::Result<T>> {
    // Taken out, not borrowed: what `take` does may read another socket.
    let mut scratch = SCRATCH.take();
    scratch.resize(SCRATCH_BYTES, 0);
    let mut buffer = ReadBuf::new(&mut scratch);
    let read = Pin::new(io).poll_read(cx, &mut buffer);
    let outcome = match read {
        Poll::Pending => Poll::Pending,
        Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
        Poll::Ready(Ok(())) => Poll::Ready(Ok(take(buffer.filled()))),
    };
    SCRATCH.set(scratch);
    outcome.map(|outcome| outcome)
}

/// Whether nothing is to be read: anything that comes unasked, even the end, makes a connection useless.
pub(super) fn is_quiet(io: &mut (impl AsyncRead + Unpin), cx: &mut Context<'_>) -> bool {
    poll_read(io, cx, |_| ()).is_pending()
}

/// The same as [`poll_read`] for a whole future.
pub(super) async fn read<T>(
    io: &mut (impl AsyncRead + Unpin),
    mut take: impl FnMut(&[u8]) -> T,
) -> std::io::Result<T> {
    std::future::poll_fn(|cx| {
        let taken = ready!(poll_read(io, cx, &mut take));
        Poll::Ready(taken)
    })
    .await
}
