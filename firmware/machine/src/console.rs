//! The console, a line at a time.

use arm_pl011_uart::{PL011Registers, Uart, UniqueMmioPointer};
use core::fmt::Write;
use core::ptr::NonNull;
use spin::mutex::SpinMutex;

static LOCK: SpinMutex<()> = SpinMutex::new(());

/// The number of times that a CPU asks for the console before it writes without it: a CPU that
/// crashed in the middle of a line must not silence the others.
const PATIENCE: u32 = 1_000_000;

/// Prints a line.
pub fn print(arguments: core::fmt::Arguments<'_>) {
    let guard = (0..PATIENCE).find_map(|_| LOCK.try_lock());
    print_unlocked(arguments);
    drop(guard);
}

/// Prints a line where no other CPU runs, or there is no memory that could hold a lock.
pub fn print_unlocked(arguments: core::fmt::Arguments<'_>) {
    let Some(registers) = NonNull::new(crate::UART as *mut PL011Registers) else {
        return;
    };
    // SAFETY: the UART is mapped as a device; a lock keeps this image's CPUs apart, and the
    // worlds share it by convention.
    let mut uart = Uart::new(unsafe { UniqueMmioPointer::new(registers) });
    let _ = uart.write_fmt(arguments);
    let _ = uart.write_str("\n");
}

/// Prints a line as `format!` would make it.
#[macro_export]
macro_rules! say {
    ($($argument:tt)*) => { $crate::console::print(format_args!($($argument)*)) };
}
