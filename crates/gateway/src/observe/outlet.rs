//! Text on its way to a stream that may be slow, or that nobody reads. Whoever writes never waits: what does not fit into the
//! queue is dropped and counted, and a thread of its own does the writing.

use std::io::Write;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A stream that can be written to without waiting.
#[derive(Debug, Default)]
pub struct Outlet {
    queue: Mutex<Queue>,
    changed: Condvar,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<u8>,
    /// Whether the thread holds text that it has not written yet.
    is_writing: bool,
}

/// What may wait for a slow reader; as much again may be on its way.
const QUEUE_BYTES_MAX: usize = 256 * 1024;

/// How long the end of a process waits for a slow reader.
const FLUSH_MAX: Duration = Duration::from_millis(500);

impl Outlet {
    /// Starts the thread that writes to the stream, for as long as the process lives.
    pub fn start(stream: impl Write + Send + 'static) -> Arc<Self> {
        let outlet = Arc::new(Self::default());
        let writer = Arc::clone(&outlet);
        let thread = thread::Builder::new().name("sabir-output".to_owned());
        // Without a thread all text is dropped once the queue is full, and the server serves all the same.
        let _ = thread.spawn(move || writer.run(stream));
        outlet
    }

    /// Puts text into the queue, all of it or none.
    pub fn write(&self, text: &str) {
        self.offer(text.as_bytes());
    }

    /// Waits a moment until all is written.
    pub fn flush(&self) {
        let is_busy = |queue: &mut Queue| queue.is_writing || !queue.waiting.is_empty();
        let _ = self.changed.wait_timeout_while(self.queue(), FLUSH_MAX, is_busy);
    }

    /// How many lines did not fit, or could not be written.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    pub(super) fn offer(&self, lines: &[u8]) {
        let mut queue = self.queue();
        if queue.waiting.len() + lines.len() > QUEUE_BYTES_MAX {
            drop(queue);
            self.drop_lines(lines);
            return;
        }
        queue.waiting.extend_from_slice(lines);
        drop(queue);
        self.changed.notify_all();
    }

    fn run(&self, mut stream: impl Write) {
        let mut batch = Vec::new();
        loop {
            self.take(&mut batch);
            if stream.write_all(&batch).and_then(|()| stream.flush()).is_err() {
                self.drop_lines(&batch);
            }
        }
    }

    /// Waits for text, having written the last.
    fn take(&self, batch: &mut Vec<u8>) {
        batch.clear();
        let mut queue = self.queue();
        queue.is_writing = false;
        self.changed.notify_all();
        let is_idle = |queue: &mut Queue| queue.waiting.is_empty();
        let mut queue =
            self.changed.wait_while(queue, is_idle).unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut queue.waiting, batch);
        queue.is_writing = true;
    }

    fn drop_lines(&self, lines: &[u8]) {
        let count = memchr::memchr_iter(b'\n', lines).count().max(1);
        self.dropped.fetch_add(count as u64, Relaxed);
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::mpsc;

    use super::*;

    /// A stream that takes text only when the test lets it.
    struct Slow {
        leave: mpsc::Receiver<io::Result<()>>,
        written: mpsc::Sender<Vec<u8>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.leave.recv().map_err(io::Error::other)??;
            let _ = self.written.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_does_not_fit_is_counted_and_the_rest_is_written_in_order() {
        let ((leave, is_left), (written, writes)) = (mpsc::channel(), mpsc::channel());
        let outlet = Outlet::start(Slow { leave: is_left, written });
        outlet.write("first\n");
        while !outlet.queue().is_writing {
            thread::yield_now();
        }
        let line = format!("{}\n", "x".repeat(QUEUE_BYTES_MAX / 4 - 1));
        for _ in 0..6 {
            outlet.write(&line);
        }
        outlet.flush();
        assert_eq!(outlet.dropped(), 2);
        leave.send(Ok(())).unwrap();
        leave.send(Ok(())).unwrap();
        assert_eq!(writes.recv().unwrap(), b"first\n");
        assert_eq!(writes.recv().unwrap(), line.repeat(4).as_bytes());
        leave.send(Err(io::ErrorKind::BrokenPipe.into())).unwrap();
        outlet.write("one\ntwo\n");
        outlet.flush();
        assert_eq!(outlet.dropped(), 4);
        leave.send(Ok(())).unwrap();
        outlet.write("last\n");
        assert_eq!(writes.recv().unwrap(), b"last\n");
    }
}
