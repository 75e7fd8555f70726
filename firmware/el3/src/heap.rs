//! The memory that EL3 allocates from while it boots.

use linked_list_allocator::Heap;
use spin::mutex::SpinMutex;

/// Memory for booting: the device tree, and the library's records, which stay.
pub struct BootHeap(SpinMutex<Heap>);

#[global_allocator]
pub static HEAP: BootHeap = BootHeap(SpinMutex::new(Heap::empty()));

impl BootHeap {
    /// Hands out memory from here on.
    ///
    /// # Safety
    /// Nobody else uses these bytes.
    pub unsafe fn start(&self, begin: *mut u8, bytes: usize) {
        // SAFETY: by the caller's promise.
        unsafe { self.0.lock().init(begin, bytes) }
    }

    /// Bytes handed out.
    pub fn used(&self) -> usize {
        self.0.lock().used()
    }
}

// SAFETY: the heap hands out memory as the trait asks; the lock keeps users apart.
unsafe impl core::alloc::GlobalAlloc for BootHeap {
    unsafe fn alloc(&self, layout: core::alloc::Layout) -> *mut u8 {
        self.0.lock().allocate_first_fit(layout).map_or(core::ptr::null_mut(), |block| block.as_ptr())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: core::alloc::Layout) {
        if let Some(block) = core::ptr::NonNull::new(pointer) {
            // SAFETY: by the trait, the block came from `alloc` with this layout.
            unsafe { self.0.lock().deallocate(block, layout) }
        }
    }
}
