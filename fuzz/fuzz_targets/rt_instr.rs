//! `cargo fuzz run --features libfuzzer rt_instr`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::RT_INSTR.run)(bytes);
});
