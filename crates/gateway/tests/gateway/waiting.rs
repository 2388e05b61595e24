//! Waiting in tests with real threads and sockets, whose time cannot be paused: for a condition, or because the time that
//! passes is what the test is about.

use std::time::{Duration, Instant};

use crate::harness::PATIENCE;

/// Waits until there is a value; the last problem is that of the test if there never is one.
pub(crate) fn wait_for<T>(mut find: impl FnMut() -> Result<T, String>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        match find() {
            Ok(found) => return found,
            Err(problem) => assert!(Instant::now() < until, "{problem}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Lets time pass in which the gateway must not give up.
pub(crate) fn let_pass(time: Duration) {
    std::thread::sleep(time);
}
