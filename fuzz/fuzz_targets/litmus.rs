//! `cargo fuzz run --features libfuzzer litmus`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::LITMUS.run)(bytes);
});
