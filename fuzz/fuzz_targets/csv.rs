//! `cargo fuzz run --features libfuzzer csv`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::CSV.run)(bytes);
});
