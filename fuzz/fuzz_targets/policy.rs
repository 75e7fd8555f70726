//! `cargo fuzz run --features libfuzzer policy`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::POLICY.run)(bytes);
});
