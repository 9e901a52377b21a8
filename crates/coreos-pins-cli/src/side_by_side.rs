//! The same work on many things, a few at a time, with a progress bar where somebody is watching.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Most things that are worked on at a time: what servers bear from one client.
const AT_A_TIME: usize = 8;

/// Does `work` on each of `things`, and returns the results in the same order. `what` is shown beside the bar.
pub(crate) fn side_by_side<T: Sync, R: Send>(
    things: &[T],
    what: &str,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    // Draws on standard error, and only where that is a terminal.
    let bar = ProgressBar::new(things.len() as u64).with_message(what.to_owned());
    if things.len() > 1 {
        bar.set_style(ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}").expect("a template"));
    } else {
        bar.set_style(ProgressStyle::with_template("{msg} {spinner}").expect("a template"));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..things.len().min(AT_A_TIME) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(thing) = things.get(index) else { return };
                    let result = work(thing);
                    bar.inc(1);
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, result));
                }
            });
        }
    });
    bar.finish_and_clear();
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_things() {
        let things: Vec<u64> = (0..50).collect();
        let results = side_by_side(&things, "", |thing| {
            thread::sleep(std::time::Duration::from_millis((50 - thing) % 7));
            thing * 2
        });
        assert_eq!(results, things.iter().map(|thing| thing * 2).collect::<Vec<_>>());
        assert!(side_by_side(&[] as &[u64], "", |thing| *thing).is_empty());
    }
}
