//! Things that an experiment makes of its files once for many runs.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Most things that are kept at once. Points of a plan come in the order of its axes, so what was
/// made last is what is asked for next.
const MOST: usize = 64;

/// Things made of files and settings, by what they were made of. Whoever hands it to several runs
/// vouches that the files do not change meanwhile.
#[derive(Default)]
pub struct Kept(Mutex<HashMap<String, Arc<dyn Any + Send + Sync>>>);

impl Kept {
    /// Returns the value that is kept for a key, or else keeps what `make` makes. The key names
    /// every input of the value.
    ///
    /// # Errors
    /// Those of `make`; nothing is kept then.
    pub fn get_or_make<T: Any + Send + Sync, E>(
        &self,
        key: impl FnOnce() -> String,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let key = key();
        let of_key = self.lock().get(&key).cloned();
        if let Some(kept) = of_key.and_then(|kept| kept.downcast::<T>().ok()) {
            return Ok(kept);
        }
        let made = Arc::new(make()?);
        let mut all = self.lock();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(key, made.clone());
        Ok(made)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<dyn Any + Send + Sync>>> {
        // A point that panicked left the map whole: it is changed by one call.
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_made_once_and_an_error_is_not_kept() {
        let kept = Kept::default();
        let get = |made: Result<u32, &'static str>| {
            kept.get_or_make(|| "key".to_owned(), || made).map(|it| *it)
        };
        assert_eq!(get(Err("not yet")), Err("not yet"));
        assert_eq!(
            [get(Ok(1)), get(Ok(2)), get(Err("never made"))],
            [Ok(1), Ok(1), Ok(1)]
        );
        for number in 0..2 * MOST {
            let other = kept
                .get_or_make(|| format!("key {number}"), || Ok::<_, ()>(number))
                .unwrap();
            assert_eq!(*other, number);
        }
        assert!(kept.lock().len() <= MOST);
    }
}
