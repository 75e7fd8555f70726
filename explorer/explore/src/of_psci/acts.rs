//! The actions of CPUs and of the power controller beside accesses of memory.

use super::hook::Hook;
use interleavings::subject::Act;

/// A CPU tells the power controller that it goes down.
pub static POWER_DOWN: Act = Act::new(11, "hardware", |_| {
    "tells the power controller that it goes down".to_owned()
});
/// A CPU asks the power controller to turn a CPU on.
pub static TURN_ON: Act = Act::new(12, "hardware", |cpu| {
    format!("asks the power controller to turn CPU {cpu} on")
});
/// The terminal WFI.
pub static WAIT_FOR_POWER_DOWN: Act =
    Act::new(13, "hardware", |_| "waits to be powered down".to_owned());
/// A CPU starts at its reset vector.
pub static RESET: Act = Act::new(14, "hardware", |_| "comes out of reset".to_owned());
/// A CPU waits in retention or standby.
pub static STANDBY: Act = Act::new(15, "hardware", |_| "waits for an interrupt".to_owned());
/// A CPU opens the levels that had been down.
pub static POWERED_UP: Act = Act::new(16, "hardware", |_| "opens what was down".to_owned());
/// A CPU enters a hook of the port, by the hook's number.
pub static HOOK: Act = Act::new(31, "hook", |hook| {
    format!("enters the hook {}", Hook::ALL[hook as usize].name())
});
/// A hook closes the port of this cluster, and opens it.
pub static CLOSE_PORT: Act = Act::new(32, "hardware", |cluster| {
    format!("closes the port of cluster {cluster}")
});
pub static OPEN_PORT: Act = Act::new(33, "hardware", |cluster| {
    format!("opens the port of cluster {cluster}")
});
/// A hook uses the register of a device, at this address.
pub static DEVICE: Act = Act::new(34, "hardware", |address| {
    format!("uses the register at {address:#x}")
});
/// A call returns, with this in X0.
pub static RETURNED: Act =
    Act::new(19, "normal world", |x0| format!("gets {} back", x0 as i64)).ending();
/// A CPU enters the normal world, at this address.
pub static ENTERED: Act = Act::new(20, "normal world", |pc| {
    format!("enters the normal world at {pc:#x}")
})
.ending();
/// The power controller turns a CPU off.
pub static POWER_OFF: Act = Act::new(21, "hardware", |cpu| format!("turns CPU {cpu} off"));
/// The power controller turns a CPU off, with its cluster.
pub static POWER_OFF_WITH_CLUSTER: Act = Act::new(21, "hardware", |cpu| {
    format!("turns CPU {cpu} off, with its cluster if nobody else runs there")
});
/// The power controller turns a CPU on.
pub static POWER_ON: Act = Act::new(22, "hardware", |cpu| format!("turns CPU {cpu} on"));
