//! The actions of a kernel beside accesses of memory.

use super::thread;
use interleavings::subject::Act;

/// A read section starts, in which an object is seen.
pub static READS: Act = Act::new(32, "reader or callback", |object| {
    format!("starts to read object {object}")
});
/// A reader looks at the object that it sees.
pub static LOOKS: Act = Act::new(33, "reader or callback", |object| {
    format!("looks at object {object}")
});
/// A read section ends.
pub static LEAVES: Act = Act::new(34, "reader or callback", |_| {
    "ends its read section".to_owned()
});
/// A callback is queued.
pub static QUEUES: Act = Act::new(35, "reader or callback", |callback| {
    format!("queues callback {callback}")
});
/// A callback is invoked.
pub static INVOKES: Act = Act::new(36, "reader or callback", |callback| {
    format!("invokes callback {callback}")
});
/// An interrupt comes; a tick or another.
pub static INTERRUPTED: Act = Act::new(37, "kernel", |_| "takes an interrupt".to_owned());
/// Another task runs.
pub static SWITCHES: Act = Act::new(38, "kernel", |_| "switches to another task".to_owned());
/// A step of a thread.
pub static STEPS: Act = Act::new(39, "kernel", |thread| {
    format!("runs a step of {}", thread::name(thread as usize))
});
/// The CPU goes idle.
pub static IDLES: Act = Act::new(40, "kernel", |_| "goes idle".to_owned());
/// The CPU goes off.
pub static GOES_OFF: Act = Act::new(41, "kernel", |_| "goes off".to_owned());
/// The CPU comes up.
pub static COMES_UP: Act = Act::new(42, "kernel", |_| "comes up".to_owned());
/// The clock moves on.
pub static JIFFY: Act = Act::new(43, "kernel", |jiffy| format!("moves on to jiffy {jiffy}"));
