//! `cargo fuzz run --features libfuzzer wattson`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::WATTSON.run)(bytes);
});
