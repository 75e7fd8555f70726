//! A plugin that QEMU loads into itself: how often each instruction was executed within passages of
//! a guest, and by which calls it was reached.
//!
//! A passage lies between marks in the guest's code, which are hints that mean nothing to a core
//! (`interface.rs`), or between addresses (`from`, `to`). `build.rs` of the crate
//! `qemu` compiles this crate, which has no dependency, and the program carries it.
//!
//! | argument | |
//! |---|---|
//! | `out=FILE` | where the counts go |
//! | `from=ADDRESS` | a passage begins where this address is executed |
//! | `to=ADDRESS` | and ends where this one is; may be given again. Without it, a passage ends with the return from `from`. One whose function has returned before its end is forgotten when `from` is executed again |
//! | `most=N` | passages between addresses that are counted |
//!
//! The file has, for each kind of passage in order (between addresses, for each passage), numbers
//! of addresses and opcodes in hexadecimal and all others in decimal:
//!
//! ```text
//! passages N OTHERS                 the number of passages of this kind, and of instructions of other CPUs meanwhile
//! call FRAME CALLER ADDRESS         a frame: in which other one, and by which instruction, it was called
//! taken FRAME ADDRESS VECTOR COUNT  exceptions that were taken in a frame after an instruction
//! at FRAME ADDRESS OPCODE COUNT     executions of an instruction in a frame
//! end
//! ```
//!
//! Frame 0 is where a passage begins. Before the first passage between addresses, `begun` says that
//! one began.

mod flow;
#[cfg(not(test))]
mod interface;
mod passages;
