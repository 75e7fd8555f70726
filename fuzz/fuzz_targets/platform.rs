//! `cargo fuzz run --features libfuzzer platform`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::PLATFORM.run)(bytes);
});
