//! `cargo fuzz run --features libfuzzer plan`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::PLAN.run)(bytes);
});
