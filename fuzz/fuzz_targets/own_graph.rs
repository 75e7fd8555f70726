//! `cargo fuzz run --features libfuzzer own_graph`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (fuzz::OWN_GRAPH.run)(bytes);
});
