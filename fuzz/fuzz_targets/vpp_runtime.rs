//! `cargo fuzz run --features libfuzzer vpp_runtime`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::VPP_RUNTIME.run)(bytes);
});
