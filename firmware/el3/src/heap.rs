//! The memory that EL3 allocates from while it boots.

use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Memory for booting: the device tree, and the library's records, which stay. What is given back
/// is not used again: there is far more than a boot takes.
pub struct BootHeap {
    next: AtomicUsize,
    end: AtomicUsize,
}

#[global_allocator]
pub static HEAP: BootHeap = BootHeap {
    next: AtomicUsize::new(0),
    end: AtomicUsize::new(0),
};

impl BootHeap {
    /// Hands out memory from here on.
    ///
    /// # Safety
    /// Nobody else uses these bytes.
    pub unsafe fn start(&self, begin: usize, end: usize) {
        self.next.store(begin, Relaxed);
        self.end.store(end, Relaxed);
    }

    /// The end of what was handed out.
    pub fn next(&self) -> usize {
        self.next.load(Relaxed)
    }
}

// SAFETY: no byte is handed out twice.
unsafe impl GlobalAlloc for BootHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let begin = |from: usize| from.next_multiple_of(layout.align());
        let end = |from: usize| {
            Some(begin(from) + layout.size()).filter(|end| *end <= self.end.load(Relaxed))
        };
        let from = self.next.fetch_update(Relaxed, Relaxed, end);
        from.map_or(core::ptr::null_mut(), |from| begin(from) as *mut u8)
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
