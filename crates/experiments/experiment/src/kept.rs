//! Things that an experiment makes of its files once for many runs.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Most things that are kept at once. Points of a plan come in the order of its axes, so what was
/// made last is what is asked for next.
const MOST: usize = 64;

/// Settings as they were given: name and value of each.
pub type KeptKey = Vec<(&'static str, String)>;

type Things = HashMap<KeptKey, Arc<dyn Any + Send + Sync>>;

/// Things made of files, conditions and settings, by the settings. Whoever hands it to several runs
/// vouches that files and conditions stay the same meanwhile.
#[derive(Default)]
pub struct Kept(Mutex<Things>);

impl Kept {
    /// Returns the value that is kept for a key, or else keeps what `make` makes. The key has
    /// every setting that the value depends on.
    ///
    /// # Errors
    /// Those of `make`; nothing is kept then.
    pub fn get_or_make<T: Any + Send + Sync, E>(
        &self,
        key: KeptKey,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
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

    fn lock(&self) -> std::sync::MutexGuard<'_, Things> {
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
            let key = vec![("seed", "1".to_owned())];
            kept.get_or_make(key, || made).map(|it| *it)
        };
        assert_eq!(get(Err("not yet")), Err("not yet"));
        assert_eq!(
            [get(Ok(1)), get(Ok(2)), get(Err("never made"))],
            [Ok(1), Ok(1), Ok(1)]
        );
        for number in 0..2 * MOST {
            let other = kept
                .get_or_make(vec![("seed", format!("key {number}"))], || {
                    Ok::<_, ()>(number)
                })
                .unwrap();
            assert_eq!(*other, number);
        }
        assert!(kept.lock().len() <= MOST);
    }
}
