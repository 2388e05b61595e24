//! Giving memory back once long work is done. What glibc keeps for a thread goes to its arena when the thread ends, in pieces
//! that are joined only when the next large block of that arena is freed: so one is, in every arena that has been in use.

use std::hint::black_box;
use std::sync::{Arc, PoisonError, RwLock, mpsc};
use std::thread;

/// Large enough for glibc to look at the arena, small enough to come from it: `docs/decisions/0009` has the sizes.
const BLOCK_BYTES: usize = 128 * 1024;

/// Sweeps behind so many threads that have ended.
pub(super) fn sweep(threads: usize) {
    reserve(BLOCK_BYTES);
    let gate = Arc::new(RwLock::new(()));
    let closed = gate.write().unwrap_or_else(PoisonError::into_inner);
    let (started, has_started) = mpsc::channel();
    for _ in 0..threads {
        let (gate, started) = (Arc::clone(&gate), started.clone());
        let thread = thread::Builder::new().name("sabir-sweep".to_owned());
        // Without a thread its arena waits for the next time.
        let _ = thread.spawn(move || {
            // A thread takes an arena with its first block, one that nobody uses if there is any.
            reserve(1);
            let _ = started.send(());
            drop(gate.read());
            reserve(BLOCK_BYTES);
        });
    }
    drop(started);
    // All of them have to be there at once: an arena that is free again would be taken twice.
    has_started.iter().take(threads).for_each(drop);
    drop(closed);
}

/// Takes a block of memory and gives it back.
fn reserve(bytes: usize) {
    drop(black_box(Vec::<u8>::with_capacity(bytes)));
}
