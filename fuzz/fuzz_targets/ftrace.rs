//! `cargo fuzz run --features libfuzzer ftrace`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::FTRACE.run)(bytes);
});
