//! `cargo fuzz run --features libfuzzer rst`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::RST.run)(bytes);
});
