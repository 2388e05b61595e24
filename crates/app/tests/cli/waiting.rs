//! Waiting for what another process does: nothing tells a test when it is done.

use std::time::{Duration, Instant};

/// No step of a test takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until there is a value; `problem` is that of the test if there never is one.
pub(crate) fn wait_for<T>(problem: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(Instant::now() < until, "{problem}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
