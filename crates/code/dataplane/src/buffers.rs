//! Packet buffers: one region, fixed slots.

/// Bytes of a cache line.
pub const LINE: usize = 64;
/// Bytes of packet data a buffer holds.
pub const DATA_BYTES: usize = 2048;
/// A buffer: a header line and the data. An odd number of lines, so that the same line of all
/// buffers spreads over all sets of a cache; with a power of two they would meet in a few.
pub const SLOT_BYTES: usize = LINE + DATA_BYTES;

const _: () = assert!((SLOT_BYTES / LINE) % 2 == 1);

/// A buffer's number in its [`Pool`].
pub type Buffer = u32;

/// The content of a buffer: a header line, and the data.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Slot {
    /// The header line.
    pub header: [u8; LINE],
    /// The packet data.
    pub data: [u8; DATA_BYTES],
}

/// Order in which freed buffers are handed out again.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Reuse {
    /// The last one freed first: buffers stay in the caches.
    Hot,
    /// The one freed longest ago first: a run cycles through all buffers, as with a device's deep
    /// ring.
    Cycle,
}

/// A region of buffers.
pub struct Pool {
    slots: region::Region<Slot>,
    /// Free buffers: a stack ([`Reuse::Hot`]) or a ring ([`Reuse::Cycle`]).
    free: Vec<Buffer>,
    first: usize,
    free_count: usize,
    reuse: Reuse,
}

impl Pool {
    /// A pool of `count` buffers, in huge pages where the system offers them.
    ///
    /// # Panics
    /// If `count` is 0 or greater than 2^24.
    pub fn new(count: usize, reuse: Reuse) -> Self {
        assert!(
            (1..=1 << 24).contains(&count),
            "a pool has 1 to 2^24 buffers"
        );
        Self {
            slots: region::Region::new(count),
            free: (0..count as u32).collect(),
            first: 0,
            free_count: count,
            reuse,
        }
    }

    /// Number of all buffers.
    pub fn capacity(&self) -> usize {
        self.free.len()
    }

    /// Order in which freed buffers are handed out again.
    pub fn reuse(&self) -> Reuse {
        self.reuse
    }

    /// Number of buffers that nobody holds.
    pub fn available(&self) -> usize {
        self.free_count
    }

    /// Takes up to `into.len()` buffers, returns how many.
    #[inline]
    pub fn allocate(&mut self, into: &mut [Buffer]) -> usize {
        let count = into.len().min(self.free_count);
        match self.reuse {
            Reuse::Hot => {
                let left = self.free_count - count;
                into[..count].copy_from_slice(&self.free[left..self.free_count]);
            }
            Reuse::Cycle => {
                let straight = count.min(self.free.len() - self.first);
                into[..straight].copy_from_slice(&self.free[self.first..self.first + straight]);
                into[straight..count].copy_from_slice(&self.free[..count - straight]);
                self.first = (self.first + count) % self.free.len();
            }
        }
        self.free_count -= count;
        count
    }

    /// Lets go of buffers.
    ///
    /// # Panics
    /// If more are free then than there are: a packet was freed twice.
    #[inline]
    pub fn free(&mut self, buffers: &[Buffer]) {
        let capacity = self.free.len();
        assert!(
            self.free_count + buffers.len() <= capacity,
            "more buffers are free than there are: one was freed twice"
        );
        match self.reuse {
            Reuse::Hot => self.free[self.free_count..][..buffers.len()].copy_from_slice(buffers),
            Reuse::Cycle => {
                let end = self.first + self.free_count;
                let place = if end >= capacity { end - capacity } else { end };
                let straight = buffers.len().min(capacity - place);
                self.free[place..place + straight].copy_from_slice(&buffers[..straight]);
                self.free[..buffers.len() - straight].copy_from_slice(&buffers[straight..]);
            }
        }
        self.free_count += buffers.len();
    }

    /// All buffers, by number, to read and write what is in them. Unlike the pool they have nothing
    /// that a packet's bytes could overlap with, as far as the compiler knows: their place and
    /// number stay in registers while a loop writes packets.
    #[inline(always)]
    pub fn slots(&mut self) -> &mut [Slot] {
        &mut self.slots
    }

    /// A pointer to the first buffer, for code in C. Buffer `n` begins [`SLOT_BYTES`] times `n`
    /// bytes after it, with its header line. The pointer is valid until the next use of the pool.
    #[inline(always)]
    pub fn start(&mut self) -> *mut u8 {
        self.slots.as_mut_ptr().cast()
    }

    /// The packet data of a buffer.
    #[inline(always)]
    pub fn data(&self, buffer: Buffer) -> &[u8; DATA_BYTES] {
        &self.slots[buffer as usize].data
    }

    /// The packet data of a buffer, to write.
    #[inline(always)]
    pub fn data_mut(&mut self, buffer: Buffer) -> &mut [u8; DATA_BYTES] {
        &mut self.slots[buffer as usize].data
    }

    /// The header line of a buffer.
    #[inline(always)]
    pub fn header(&self, buffer: Buffer) -> &[u8; LINE] {
        &self.slots[buffer as usize].header
    }

    /// The header line of a buffer, to write.
    #[inline(always)]
    pub fn header_mut(&mut self, buffer: Buffer) -> &mut [u8; LINE] {
        &mut self.slots[buffer as usize].header
    }
}

/// Plain memory from the kernel, with huge pages where it can be had.
pub mod region {
    #![expect(
        unsafe_code,
        reason = "memory for buffers and tables comes from the kernel, aligned for huge pages"
    )]

    use pages::Pages;
    use std::ops::{Deref, DerefMut};
    use std::ptr::NonNull;

    const HUGE: usize = 2 * 1024 * 1024;

    /// A type for which all bytes zero are a value, and that holds no references.
    ///
    /// # Safety
    /// All bytes zero must be a value of the type, and the type must hold no references.
    pub unsafe trait Plain {}

    // SAFETY: arrays of bytes.
    unsafe impl Plain for super::Slot {}
    // SAFETY: an integer.
    unsafe impl Plain for u8 {}
    // SAFETY: an integer.
    unsafe impl Plain for u16 {}
    // SAFETY: an integer.
    unsafe impl Plain for u32 {}
    // SAFETY: an integer.
    unsafe impl Plain for u64 {}
    // SAFETY: zeros are a value of each element.
    unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

    /// A zeroed array. From 2 MB on it starts at a multiple of that, and huge pages were asked for
    /// before anything touched it: a page that is there already stays small. All its pages are
    /// there from the start.
    pub struct Region<T: Plain> {
        memory: NonNull<T>,
        count: usize,
        /// The memory goes with it.
        _pages: Pages,
    }

    // SAFETY: the region owns its memory, and `T` is plain.
    unsafe impl<T: Plain + Send> Send for Region<T> {}
    // SAFETY: shared access only reads.
    unsafe impl<T: Plain + Sync> Sync for Region<T> {}

    impl<T: Plain> Region<T> {
        /// `count` zeros.
        pub fn new(count: usize) -> Self {
            const {
                assert!(
                    align_of::<T>() <= 4096,
                    "pages are aligned to that at least"
                )
            };
            let bytes = count
                .checked_mul(size_of::<T>())
                .expect("a region that fits the address space");
            let pages = Pages::zeroed(bytes.max(1));
            Self {
                memory: pages.start().cast(),
                count,
                _pages: pages,
            }
        }
    }

    impl<T: Plain> Deref for Region<T> {
        type Target = [T];

        #[inline(always)]
        fn deref(&self) -> &[T] {
            // SAFETY: `count` initialised elements, owned by `self`.
            unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.count) }
        }
    }

    impl<T: Plain> DerefMut for Region<T> {
        #[inline(always)]
        fn deref_mut(&mut self) -> &mut [T] {
            // SAFETY: as above, and `self` is borrowed alone.
            unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr(), self.count) }
        }
    }

    /// Whole pages from the kernel, all zero.
    #[cfg(target_os = "linux")]
    mod pages {
        use super::HUGE;
        use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap_anonymous, munmap};
        use std::num::NonZeroUsize;
        use std::ptr::NonNull;

        pub(super) struct Pages {
            mapping: NonNull<u8>,
            mapped: usize,
            start: NonNull<u8>,
        }

        impl Pages {
            pub(super) fn zeroed(bytes: usize) -> Self {
                let large = bytes >= HUGE;
                // Room to start at a multiple, and to end at one: the last page is huge, too.
                let mapped = if large {
                    bytes.next_multiple_of(HUGE).checked_add(HUGE)
                } else {
                    Some(bytes)
                };
                let mapped = mapped.expect("a region that fits the address space");
                let length = NonZeroUsize::new(mapped).expect("a region has at least one byte");
                let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
                // SAFETY: a new mapping that touches no other one.
                let mapping =
                    unsafe { mmap_anonymous(None, length, access, MapFlags::MAP_PRIVATE) };
                let mapping = mapping
                    .unwrap_or_else(|error| panic!("no memory for {bytes} bytes: {error}"))
                    .cast::<u8>();
                let skip = if large {
                    mapping.addr().get().next_multiple_of(HUGE) - mapping.addr().get()
                } else {
                    0
                };
                // SAFETY: less than `HUGE` further on, and there are as many bytes more than are
                // needed.
                let start = unsafe { mapping.add(skip) };
                if large {
                    // SAFETY: advice on whole pages of the mapping; without it they are small.
                    let _ =
                        unsafe { madvise(start.cast(), mapped - HUGE, MmapAdvise::MADV_HUGEPAGE) };
                }
                // A page that is made when the first packet needs it holds that packet up, and
                // those behind it are lost.
                for page in (0..bytes).step_by(4096) {
                    // SAFETY: within the mapping, and nobody else has it yet.
                    unsafe { start.add(page).write_volatile(0) };
                }
                Self {
                    mapping,
                    mapped,
                    start,
                }
            }

            pub(super) fn start(&self) -> NonNull<u8> {
                self.start
            }
        }

        impl Drop for Pages {
            fn drop(&mut self) {
                // SAFETY: mapped in `zeroed` with this length, and nobody has it any more.
                let _ = unsafe { munmap(self.mapping.cast(), self.mapped) };
            }
        }
    }

    /// Memory of the allocator where pages cannot be asked for.
    #[cfg(not(target_os = "linux"))]
    mod pages {
        use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
        use std::ptr::NonNull;

        pub(super) struct Pages {
            start: NonNull<u8>,
            layout: Layout,
        }

        impl Pages {
            pub(super) fn zeroed(bytes: usize) -> Self {
                let layout = Layout::from_size_align(bytes, 4096)
                    .expect("a region that fits the address space");
                // SAFETY: the size is not zero.
                let start = NonNull::new(unsafe { alloc_zeroed(layout) });
                Self {
                    start: start.unwrap_or_else(|| handle_alloc_error(layout)),
                    layout,
                }
            }

            pub(super) fn start(&self) -> NonNull<u8> {
                self.start
            }
        }

        impl Drop for Pages {
            fn drop(&mut self) {
                // SAFETY: allocated in `zeroed` with this layout.
                unsafe { dealloc(self.start.as_ptr(), self.layout) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycling_pool_hands_out_every_buffer_before_one_comes_again() {
        let mut pool = Pool::new(5, Reuse::Cycle);
        let mut seen = Vec::new();
        for _ in 0..5 {
            let mut two = [0; 2];
            assert_eq!(pool.allocate(&mut two), 2);
            seen.extend(two);
            pool.free(&two);
        }
        assert_eq!(seen, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_hot_pool_hands_out_the_last_one_freed() {
        let mut pool = Pool::new(4, Reuse::Hot);
        let mut one = [0];
        pool.allocate(&mut one);
        pool.free(&one);
        let freed = one;
        pool.allocate(&mut one);
        assert_eq!(one, freed);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_region_is_there_at_once_and_in_huge_pages_if_the_kernel_has_any() {
        const BYTES: usize = 5 << 20;
        // Each try of the kernel to find a huge page that failed.
        let failures = || {
            let counts = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
            let line = counts
                .lines()
                .find_map(|line| line.strip_prefix("thp_fault_fallback "));
            line.map_or(0, |count| count.parse::<u64>().unwrap())
        };
        let before = failures();
        let mut region = region::Region::<u8>::new(BYTES);
        let start = region.as_ptr().addr();
        assert_eq!(start % (2 << 20), 0);
        let kilobytes = |what: &str| {
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let mut lines = maps
                .lines()
                .skip_while(|line| !line.starts_with(&format!("{start:x}-")));
            let found = lines.find_map(|line| line.strip_prefix(what))?;
            Some(
                found
                    .trim()
                    .trim_end_matches(" kB")
                    .parse::<usize>()
                    .unwrap(),
            )
        };
        // There are three reasons not to look. The kernel may refuse advice, and the mapping is
        // then not cut at the start. It may be set never to give a huge page. And an emulator of
        // another processor's programs accepts advice and ignores it, so the mapping is not cut
        // either.
        let told = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")
            .unwrap_or_default();
        if (told.contains("[madvise]") || told.contains("[always]"))
            && let Some((resident, huge)) = kilobytes("Rss:").zip(kilobytes("AnonHugePages:"))
        {
            assert!(resident >= BYTES >> 10);
            assert!(huge > 0 || failures() > before);
        }
        region[BYTES - 1] = 7;
        assert_eq!((region[0], region[BYTES - 1]), (0, 7));
    }

    #[test]
    fn an_empty_pool_gives_what_it_has() {
        let mut pool = Pool::new(3, Reuse::Cycle);
        assert_eq!(pool.allocate(&mut [0; 8]), 3);
        assert_eq!(pool.allocate(&mut [0; 8]), 0);
    }

    #[test]
    #[should_panic(expected = "freed twice")]
    fn freeing_twice_is_noticed() {
        let mut pool = Pool::new(1, Reuse::Hot);
        let mut one = [0];
        pool.allocate(&mut one);
        pool.free(&one);
        pool.free(&one);
    }
}
