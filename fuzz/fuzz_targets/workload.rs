//! `cargo fuzz run --features libfuzzer workload`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::WORKLOAD.run)(bytes);
});
