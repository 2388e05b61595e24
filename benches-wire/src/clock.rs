//! The clock: a candidate and its reference take turns, and the least time of each counts.
//!
//! Whatever else runs on the machine slows both down, and only ever adds time; the least of many repeats is what the
//! code itself takes.

use std::error::Error;
use std::time::{Duration, Instant};

/// How long one case is measured, its reference included.
const CASE_TIME: Duration = Duration::from_millis(300);
const REPEATS_MIN: usize = 25;
/// Short runs are repeated within one reading of the clock, which is too coarse for them.
const READING_TIME: Duration = Duration::from_micros(200);

/// The least times that a run took.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub candidate: Duration,
    pub reference: Duration,
}

impl Times {
    pub fn ratio(self) -> f64 {
        self.candidate.as_secs_f64() / self.reference.as_secs_f64()
    }
}

/// What runs once and says how many bytes came out.
pub type Run<'r> = &'r dyn Fn() -> Result<usize, Box<dyn Error>>;

/// Measures both in turns.
pub fn compare(candidate: Run<'_>, reference: Run<'_>) -> Result<Times, Box<dyn Error>> {
    let batches = [batch(candidate)?, batch(reference)?];
    let mut least = [Duration::MAX; 2];
    let start = Instant::now();
    let mut repeats = 0;
    while repeats < REPEATS_MIN || start.elapsed() < CASE_TIME {
        for ((run, batch), least) in [candidate, reference].into_iter().zip(batches).zip(&mut least)
        {
            *least = (*least).min(time(run, batch)?);
        }
        repeats += 1;
    }
    let [candidate, reference] = least;
    Ok(Times { candidate, reference })
}

/// How many runs fill one reading of the clock; finding out warms up.
fn batch(run: Run<'_>) -> Result<u32, Box<dyn Error>> {
    time(run, 2)?;
    let once = time(run, 2)?.max(Duration::from_nanos(10));
    let runs = READING_TIME.as_nanos().div_ceil(once.as_nanos());
    Ok(u32::try_from(runs)?.max(1))
}

fn time(run: Run<'_>, batch: u32) -> Result<Duration, Box<dyn Error>> {
    let start = Instant::now();
    for _ in 0..batch {
        run()?;
    }
    Ok(start.elapsed() / batch)
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn twice_the_work_takes_longer() {
        let work = |steps: u64| {
            (0..black_box(steps)).fold(1_u64, |sum, step| black_box(sum ^ step)) as usize
        };
        let times = compare(&|| Ok(work(40_000)), &|| Ok(work(10_000))).unwrap();
        assert!(times.ratio() > 2.0, "{times:?}");
    }

    #[test]
    fn a_failure_is_told() {
        assert!(compare(&|| Err("no".into()), &|| Ok(0)).is_err());
    }
}
