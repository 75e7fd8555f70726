//! `cargo fuzz run --features libfuzzer perfetto`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::PERFETTO.run)(bytes);
});
