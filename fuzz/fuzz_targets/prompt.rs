//! `cargo fuzz run --features libfuzzer prompt`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::PROMPT.run)(bytes);
});
