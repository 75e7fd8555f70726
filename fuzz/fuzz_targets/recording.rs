//! `cargo fuzz run --features libfuzzer recording`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::RECORDING.run)(bytes);
});
