//! `cargo fuzz run --features libfuzzer forwarder_config`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::FORWARDER_CONFIG.run)(bytes);
});
