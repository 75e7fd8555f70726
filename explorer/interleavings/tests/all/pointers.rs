//! What lies behind a published pointer: Arm orders it by the address, and Rust's model does not.

use interleavings::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use interleavings::sync::atomic::{AtomicPtr, AtomicU32};
use interleavings::sync::{Arc, UnsafeCell};
use interleavings::{Config, Strategy, explore, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};

struct Node {
    word: AtomicU32,
    plain: UnsafeCell<u32>,
}

/// Publishes a node, after it was filled, and has another thread read it; the failure, or else what
/// was tried.
fn published(
    publish: Ordering,
    find: Ordering,
    read: impl Fn(&Node) -> u32 + Clone + Send + 'static,
) -> Result<String, String> {
    let config = Config {
        strategies: vec![Strategy::Dpor],
        folder: Some(std::env::temp_dir()),
        ..Config::default()
    };
    let test = move || {
        let node = Arc::new(Node {
            word: AtomicU32::new(0),
            plain: UnsafeCell::new(0),
        });
        let pointer = Arc::new(AtomicPtr::new(std::ptr::null_mut()));
        let (found, read) = (pointer.clone(), read.clone());
        let reader = thread::spawn(move || {
            let at: *mut Node = found.load(find);
            // SAFETY: the node lives until the reader has ended.
            if let Some(node) = unsafe { at.as_ref() } {
                assert_eq!(read(node), 3, "what is behind the pointer");
            }
        });
        node.word.store(3, Relaxed);
        // SAFETY: accesses that race end the run.
        node.plain.with_mut(|plain| unsafe { *plain = 3 });
        pointer.store(std::ptr::from_ref(&*node).cast_mut(), publish);
        reader.join().unwrap();
    };
    match catch_unwind(AssertUnwindSafe(|| explore(&config, test))) {
        Ok(tally) => Ok(tally.covered.join("; ")),
        Err(text) => Err(*text.downcast::<String>().expect("a text")),
    }
}

fn word(node: &Node) -> u32 {
    node.word.load(Relaxed)
}

fn plain(node: &Node) -> u32 {
    // SAFETY: accesses that race end the run.
    node.plain.with(|plain| unsafe { *plain })
}

#[test]
fn an_address_orders_words_and_the_answer_says_so() {
    let rests = |covered: &str| covered.contains("is ordered by its address");
    assert!(published(Release, Relaxed, word).is_ok_and(|covered| rests(&covered)));
    assert!(published(Release, Acquire, word).is_ok_and(|covered| !rests(&covered)));
    assert!(published(Release, Acquire, plain).is_ok_and(|covered| !rests(&covered)));
}

#[test]
fn an_address_does_not_order_what_was_published_too_early() {
    let story = published(Relaxed, Relaxed, word).unwrap_err();
    assert!(story.contains("what is behind the pointer"), "{story}");
}

#[test]
fn plain_data_behind_an_address_races_and_the_failure_says_for_whom() {
    let (story, of_arm) = (
        published(Release, Relaxed, plain).unwrap_err(),
        "Rust's model does not",
    );
    assert!(
        story.contains("data-race") && story.contains(of_arm),
        "{story}"
    );
    let story = published(Relaxed, Relaxed, plain).unwrap_err();
    assert!(
        story.contains("data-race") && !story.contains(of_arm),
        "{story}"
    );
}
