//! How much memory a document may take. A few bytes of JSON can become a hundred of a model, so that a limit on bytes
//! alone would not keep hostile documents small.

use std::cell::Cell;

use serde::de;

/// Most bytes for a document and what is made of it, growth of lists aside.
const LIMIT: usize = 112 * 1024 * 1024;

/// What an allocation takes besides what is asked for, roughly.
const ALLOCATION: usize = 32;

thread_local! {
    /// What is left for the document that this thread reads, if it reads one.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Calls `read`, which may make as much of a document of `length` bytes as the limit leaves.
pub(super) fn within<T>(length: usize, read: impl FnOnce() -> T) -> T {
    let before = LEFT.replace(Some(LIMIT.saturating_sub(length)));
    let result = read();
    LEFT.set(before);
    result
}

/// Accounts for a text of `length` bytes.
pub(super) fn text<E: de::Error>(length: usize) -> Result<(), E> {
    charge(length + ALLOCATION)
}

/// Accounts for an entry of a map, but for what is below the `V`.
pub(crate) fn entry<V, E: de::Error>(key: &str) -> Result<(), E> {
    text(key.len())?;
    element::<(String, V), E>()
}

/// Accounts for a `T` in a list.
pub(super) fn element<T, E: de::Error>() -> Result<(), E> {
    charge(size_of::<T>())
}

fn charge<E: de::Error>(bytes: usize) -> Result<(), E> {
    match LEFT.get() {
        None => Ok(()),
        Some(left) => match left.checked_sub(bytes) {
            Some(left) => {
                LEFT.set(Some(left));
                Ok(())
            }
            None => Err(E::custom("the document has more values than fit into memory")),
        },
    }
}
