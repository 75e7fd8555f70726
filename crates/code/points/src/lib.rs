//! Named instrumentation points.
//!
//! The instrument that all code under test holds. Code marks a *point*; the world it runs in
//! supplies a [`Sink`] that reads its counter and keeps the stamp. What becomes of the stamps
//! (a ring in SRAM, a simulated recording) is the world's business.
//!
//! ```
//! use points::{Point, Ring, Sink};
//!
//! points::points! {
//!     /// Points of a serial driver.
//!     pub mod uart {
//!         /// The first byte is written to the FIFO.
//!         SEND_BEGIN = 0x0200, "uart-send-begin";
//!     }
//! }
//!
//! struct Board { ring: Ring<64> }
//!
//! impl Sink for Board {
//!     fn now(&self) -> u64 { 42 }
//!     fn capture(&self, point: Point, argument: u32, ticks: u64) {
//!         self.ring.push(point, argument, ticks);
//!     }
//! }
//!
//! let board = Board { ring: Ring::new() };
//! points::stamp(&board, uart::SEND_BEGIN, 7);
//! # #[cfg(not(feature = "off"))]
//! assert_eq!(board.ring.iter().next().unwrap().argument, 7);
//! ```
//!
//! # Features
//! * `detail`: [`detail`] stamps are taken as well; without it they cost nothing.
//! * `off`: neither [`stamp`] nor [`detail`] does anything, and both compile to nothing.
#![no_std]
#![forbid(unsafe_code)]

mod ring;

pub use ring::{Ring, Stamp};

/// A named instrumentation point.
///
/// The id is stable: recordings and readers on other machines refer to it.
///
/// ```
/// use points::Point;
///
/// const LOCK_WAIT: Point = Point::new(0x10, "lock-wait").with_argument("lock");
/// assert_eq!((LOCK_WAIT.id(), LOCK_WAIT.name()), (0x10, "lock-wait"));
/// assert_eq!(LOCK_WAIT.argument(), Some("lock"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    id: u16,
    name: &'static str,
    argument: Option<&'static str>,
}

impl Point {
    /// A point with the given id and name; use [`points!`] to declare groups of them.
    pub const fn new(id: u16, name: &'static str) -> Self {
        Self {
            id,
            name,
            argument: None,
        }
    }

    /// The point with what the argument of its stamps is, in lower case with hyphens: `lock`,
    /// `level`, `smc-function`.
    pub const fn with_argument(self, argument: &'static str) -> Self {
        Self {
            argument: Some(argument),
            ..self
        }
    }

    /// The meaning of the argument of the point's stamps; `None` where it means nothing.
    pub const fn argument(self) -> Option<&'static str> {
        self.argument
    }

    /// The number that stands for the point in a recording.
    pub const fn id(self) -> u16 {
        self.id
    }

    /// The point's name, in lower case with hyphens.
    pub const fn name(self) -> &'static str {
        self.name
    }
}

/// The place to which stamps go: the world's counter and its capture.
///
/// ```
/// use points::{Point, Sink};
/// use std::cell::Cell;
///
/// /// Counts stamps and keeps none.
/// #[derive(Default)]
/// struct Count(Cell<u64>);
///
/// impl Sink for Count {
///     fn now(&self) -> u64 { self.0.get() }
///     fn capture(&self, _: Point, _: u32, _: u64) { self.0.set(self.0.get() + 1) }
/// }
///
/// let count = Count::default();
/// points::stamp(&count, Point::new(1, "tick"), 0);
/// # #[cfg(not(feature = "off"))]
/// assert_eq!(count.now(), 1);
/// ```
pub trait Sink {
    /// The counter's present value in ticks, ordered after all that the CPU did before
    /// (on Arm: an ISB, then a read of `CNTPCT_EL0`).
    fn now(&self) -> u64;

    /// Keeps a stamp of the calling CPU. `ticks` was read by [`Sink::now`].
    ///
    /// Must not wait, lock or fail: a full capture drops the oldest or the newest stamp.
    fn capture(&self, point: Point, argument: u32, ticks: u64);
}

/// Marks `point` on the calling CPU and returns the counter's value in ticks.
///
/// `argument` is a small number that says which one (a lock, a message, a level); its meaning
/// belongs to the point. With the feature `off` nothing happens and 0 is returned.
///
/// ```
/// # use points::{Point, Sink};
/// # use std::cell::RefCell;
/// # #[derive(Default)]
/// # struct Log(RefCell<Vec<(u16, u32, u64)>>);
/// # impl Sink for Log {
/// #     fn now(&self) -> u64 { 42 }
/// #     fn capture(&self, point: Point, argument: u32, ticks: u64) {
/// #         self.0.borrow_mut().push((point.id(), argument, ticks));
/// #     }
/// # }
/// const READ: Point = Point::new(3, "read");
/// let log = Log::default();
/// let ticks = points::stamp(&log, READ, 7);
/// # #[cfg(not(feature = "off"))]
/// assert_eq!((ticks, &log.0.borrow()[..]), (42, &[(3, 7, 42)][..]));
/// ```
#[inline(always)]
pub fn stamp<S: Sink + ?Sized>(sink: &S, point: Point, argument: u32) -> u64 {
    if cfg!(feature = "off") {
        return 0;
    }
    let ticks = sink.now();
    sink.capture(point, argument, ticks);
    ticks
}

/// As [`stamp`], with a counter value that was read earlier: by an exception vector, or for a
/// purpose of the caller's own.
///
/// ```
/// # use points::{Point, Sink};
/// # use std::cell::RefCell;
/// # #[derive(Default)]
/// # struct Log(RefCell<Vec<(u16, u32, u64)>>);
/// # impl Sink for Log {
/// #     fn now(&self) -> u64 { 42 }
/// #     fn capture(&self, point: Point, argument: u32, ticks: u64) {
/// #         self.0.borrow_mut().push((point.id(), argument, ticks));
/// #     }
/// # }
/// const READ: Point = Point::new(3, "read");
/// let log = Log::default();
/// points::stamp_at(&log, READ, 7, 35);
/// # #[cfg(not(feature = "off"))]
/// assert_eq!(log.0.borrow()[..], [(3, 7, 35)]);
/// ```
#[inline(always)]
pub fn stamp_at<S: Sink + ?Sized>(sink: &S, point: Point, argument: u32, ticks: u64) {
    if !cfg!(feature = "off") {
        sink.capture(point, argument, ticks);
    }
}

/// As [`stamp`], for points that explain a span rather than bound it: taken with the feature
/// `detail` only.
///
/// ```
/// # use points::{Point, Sink};
/// # use std::cell::RefCell;
/// # #[derive(Default)]
/// # struct Log(RefCell<Vec<(u16, u32, u64)>>);
/// # impl Sink for Log {
/// #     fn now(&self) -> u64 { 42 }
/// #     fn capture(&self, point: Point, argument: u32, ticks: u64) {
/// #         self.0.borrow_mut().push((point.id(), argument, ticks));
/// #     }
/// # }
/// const READ: Point = Point::new(3, "read");
/// let log = Log::default();
/// points::detail(&log, READ, 7);
/// let taken = cfg!(all(feature = "detail", not(feature = "off")));
/// assert_eq!(log.0.borrow().len(), usize::from(taken));
/// ```
#[inline(always)]
pub fn detail<S: Sink + ?Sized>(sink: &S, point: Point, argument: u32) {
    if cfg!(feature = "detail") {
        stamp(sink, point, argument);
    }
}

/// Declares a module of [`Point`]s and a table `ALL` of them. Behind a point's name may stand what
/// its argument is.
///
/// ```
/// points::points! {
///     /// Points of a lock.
///     mod lock {
///         /// A CPU asks for the lock.
///         WAIT = 0x10, "lock-wait", "lock";
///         /// The CPU has the lock.
///         ACQUIRED = 0x11, "lock-acquired";
///     }
/// }
///
/// assert_eq!(lock::ALL, [lock::WAIT, lock::ACQUIRED]);
/// assert_eq!((lock::WAIT.argument(), lock::ACQUIRED.argument()), (Some("lock"), None));
/// ```
#[macro_export]
macro_rules! points {
    ($(#[$meta:meta])* $vis:vis mod $module:ident {
        $($(#[$point_meta:meta])* $name:ident = $id:expr, $text:expr $(, $argument:expr)?;)+
    }) => {
        $(#[$meta])*
        $vis mod $module {
            $($(#[$point_meta])* pub const $name: $crate::Point =
                $crate::Point::new($id, $text)$(.with_argument($argument))?;)+
            /// Every point of this module, in the order of declaration.
            pub const ALL: &[$crate::Point] = &[$($name),+];
        }
    };
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
