//! Gives the linker the runtime's layout and the image's place.

fn main() {
    println!("cargo:rerun-if-changed=memory.ld");
    println!(
        "cargo:rustc-link-arg-bins=-T{}/memory.ld",
        env!("CARGO_MANIFEST_DIR")
    );
    println!("cargo:rustc-link-arg-bins=-Timage.ld");
}
