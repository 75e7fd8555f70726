//! `cargo fuzz run --features libfuzzer trace_dat`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::TRACE_DAT.run)(bytes);
});
