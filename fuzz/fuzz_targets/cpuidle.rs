//! `cargo fuzz run --features libfuzzer cpuidle`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::CPUIDLE.run)(bytes);
});
