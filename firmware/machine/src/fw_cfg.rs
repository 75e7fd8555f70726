//! QEMU's fw_cfg device (QEMU, docs/specs/fw_cfg): files that the command line gives to the
//! machine.
//!
//! Read a byte at a time: the one crate for it reads words and loses its place in the directory.

/// Selects what is read next.
const SELECTOR: usize = crate::FW_CFG + 8;
/// The next byte of it.
const DATA: usize = crate::FW_CFG;
const DIRECTORY: u16 = 0x19;
const NAME: usize = 56;

/// Copies the file `name` into `buffer` and returns its bytes; `None` if there is no such file or
/// it is larger. Not for two CPUs at once: the device keeps one place.
pub fn read<'a>(name: &str, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    select(DIRECTORY);
    let count = u32::from_be_bytes(take());
    let (size, key) = (0..count).find_map(|_| {
        let (size, key) = (u32::from_be_bytes(take()), u16::from_be_bytes(take()));
        let _: [u8; 2] = take();
        let found: [u8; NAME] = take();
        let (found, end) = found.split_at_checked(name.len())?;
        (found == name.as_bytes() && end.first() == Some(&0)).then_some((size, key))
    })?;
    let file = buffer.get_mut(..size as usize)?;
    select(key);
    for byte in file.iter_mut() {
        [*byte] = take();
    }
    Some(file)
}

fn select(key: u16) {
    // SAFETY: the device is mapped there in both worlds; selecting has no effect but on what is
    // read.
    unsafe { (SELECTOR as *mut u16).write_volatile(key.to_be()) }
}

fn take<const N: usize>() -> [u8; N] {
    // SAFETY: as above.
    core::array::from_fn(|_| unsafe { (DATA as *const u8).read_volatile() })
}
