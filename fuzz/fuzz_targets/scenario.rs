//! `cargo fuzz run --features libfuzzer scenario`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::SCENARIO.run)(bytes);
});
