//! `cargo fuzz run --features libfuzzer wiring`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::WIRING.run)(bytes);
});
