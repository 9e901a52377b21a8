//! How often something is tried, and how long is waited in between.

use std::thread;
use std::time::{Duration, Instant};

use super::failure::{Failure, seconds};
use crate::Error;
use crate::source::Limits;

/// A transfer that brought this much before it broke has not failed: its tries are counted anew.
const PROGRESS: u64 = 1024 * 1024;

pub(super) struct Tries<'a> {
    limits: &'a Limits,
    start: Instant,
    tried: u32,
    pause: Duration,
}

impl<'a> Tries<'a> {
    pub(super) fn new(limits: &'a Limits) -> Self {
        Self { limits, start: Instant::now(), tried: 0, pause: limits.pause }
    }

    /// Returns how much is left of the time for all tries.
    pub(super) fn left(&self) -> Duration {
        self.limits.total.saturating_sub(self.start.elapsed())
    }

    /// Takes note that `bytes` came before the try failed.
    pub(super) fn progressed(&mut self, bytes: u64) {
        if bytes > 0 {
            self.start = Instant::now();
        }
        if bytes >= PROGRESS {
            (self.tried, self.pause) = (0, self.limits.pause);
        }
    }

    /// Waits for the next try after one that ended in `failure`. Without a next one, returns why the document is not
    /// there, if that is how every try ended.
    pub(super) fn again(&mut self, failure: Failure) -> Result<Option<String>, Error> {
        let Failure { error, again, not_there } = failure;
        let Some(after) = again else { return Err(error) };
        self.tried += 1;
        let wait = after.unwrap_or_default().max(self.pause);
        let in_time = self.start.elapsed().checked_add(wait).is_some_and(|then| then < self.limits.total);
        if self.tried < self.limits.tries && in_time {
            thread::sleep(wait);
            self.pause = self.pause.saturating_mul(2);
            return Ok(None);
        }
        let tries = format!("{} {}", self.tried, if self.tried == 1 { "try" } else { "tries" });
        if let Some(status) = not_there {
            return Ok(Some(format!("{status} ({tries})")));
        }
        let asked = match after {
            Some(after) if !in_time => {
                let limit = seconds(self.limits.total);
                format!("; the server asks to wait {}, the limit is {limit}", seconds(after))
            }
            _ => String::new(),
        };
        Err(error.note(format!("gave up after {tries}{asked}")))
    }
}
