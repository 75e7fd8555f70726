//! Threads of RCU as numbers, and their names.

use rcu_faults::Thread;

/// A number that stands for a thread.
pub fn number(thread: Thread) -> usize {
    match thread {
        Thread::GracePeriod => 0,
        Thread::Offload(cpu) => 0x100 | cpu,
        Thread::OffloadGp(group) => 0x200 | group,
        Thread::OffloadCb(cpu) => 0x300 | cpu,
    }
}

/// The name of the thread of a number.
pub fn name(number: usize) -> String {
    let index = number & 0xff;
    match number >> 8 {
        0 => "the grace-period thread".to_owned(),
        1 => format!("the offload thread of CPU {index}"),
        2 => format!("the grace-period thread of group {index}"),
        _ => format!("the callback thread of CPU {index}"),
    }
}
