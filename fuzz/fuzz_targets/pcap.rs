//! `cargo fuzz run --features libfuzzer pcap`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::PCAP.run)(bytes);
});
