//! `cargo fuzz run --features libfuzzer offload`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::OFFLOAD.run)(bytes);
});
