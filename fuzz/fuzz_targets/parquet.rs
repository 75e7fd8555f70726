//! `cargo fuzz run --features libfuzzer parquet`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::PARQUET.run)(bytes);
});
