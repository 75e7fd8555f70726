//! Firmware of others: an image that the machine is started with as it is.

use crate::payload::Boot;
use crate::{Error, Images};
use std::path::{Path, PathBuf};

/// Location of the payload when the firmware enters the normal world.
#[derive(PartialEq)]
pub enum Placement {
    /// Inside the image, packed by whoever built it.
    Packed,
    /// Memory, where the machine loads it. The payload runs at [`Images::ENTRY`] alone.
    InMemory,
    /// Flash, at this offset of the image, from which the firmware copies it to [`Images::ENTRY`].
    InImage(u64),
}

/// An EL3 firmware that is not ours.
pub struct OtherFirmware {
    /// The image.
    pub image: PathBuf,
    /// Address at which it is loaded and entered; `None` for the start of the flash.
    pub at: Option<u64>,
    /// Location of the payload.
    pub placement: Placement,
}

/// The flash of the machine that the image is for, in bytes.
const FLASH: u64 = 64 << 20;

impl OtherFirmware {
    /// True if the payload is to be in the image, and is not found there: it names the file of its
    /// options. A compressed image may hold it all the same.
    pub fn lacks_payload(&self) -> bool {
        let name = b"opt/stopwatt/payload";
        let is_there = |image: Vec<u8>| image.windows(name.len()).any(|part| part == name);
        self.placement == Placement::Packed
            && disk::read(&self.image, FLASH).is_ok_and(|image| !is_there(image))
    }

    /// Lays the image, and `payload` where [`Placement`] asks for it, out for the machine.
    ///
    /// # Errors
    /// A file that cannot be read or is too large; no payload, or no room for it in the image.
    pub fn boot(&self, payload: Option<&Path>) -> Result<Boot, Error> {
        let wrong = Error::file(&self.image);
        let read = |path: &Path| disk::read(path, FLASH).map_err(Error::file(path));
        let mut image = read(&self.image)?;
        if image.is_empty() || image.len() as u64 > FLASH {
            return Err(wrong(format!(
                "{} bytes; an image has 1 to {FLASH}",
                image.len()
            )));
        }
        let needed =
            || payload.ok_or_else(|| wrong("there is no payload to put beside it".to_owned()));
        let mut loads = Vec::new();
        match self.placement {
            Placement::Packed => {}
            Placement::InMemory => loads.push((needed()?.to_owned(), Images::ENTRY)),
            Placement::InImage(offset) => {
                insert(&mut image, &read(needed()?)?, offset).map_err(wrong)?
            }
        }
        let folder = tempfile::tempdir().map_err(Error::file(&std::env::temp_dir()))?;
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes)
                .map_err(Error::file(&path))
                .map(|()| path)
        };
        let copy = write("image", &image)?;
        let flash = match self.at {
            None => copy,
            Some(address) => {
                loads.push((copy, address));
                write("jump", &jump_to(address))?
            }
        };
        Ok(Boot {
            flash,
            loads,
            options: None,
            _folder: Some(folder),
        })
    }
}

/// Puts the payload where the image has nothing.
fn insert(image: &mut Vec<u8>, payload: &[u8], offset: u64) -> Result<(), String> {
    let end = offset
        .checked_add(payload.len() as u64)
        .filter(|end| *end <= FLASH)
        .ok_or_else(|| {
            format!("at {offset:#x} the payload would end after the flash, at {FLASH:#x}")
        })? as usize;
    if image.len() < end {
        image.resize(end, 0xff);
    }
    let room = &mut image[offset as usize..end];
    if let Some(at) = room.iter().position(|byte| !matches!(byte, 0 | 0xff)) {
        let at = offset + at as u64;
        return Err(format!(
            "at {offset:#x} there is no room for the payload's {} bytes: {at:#x} is in use",
            payload.len()
        ));
    }
    room.copy_from_slice(payload);
    Ok(())
}

/// Flash in which every CPU that comes out of reset goes on at `address`: a load from behind the
/// next instruction, a branch, the address.
fn jump_to(address: u64) -> Vec<u8> {
    const LDR_X9_FROM_8_ON: u32 = 0x5800_0049;
    const BR_X9: u32 = 0xd61f_0120;
    let mut flash = Vec::new();
    flash.extend(LDR_X9_FROM_8_ON.to_le_bytes());
    flash.extend(BR_X9.to_le_bytes());
    flash.extend(address.to_le_bytes());
    flash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_goes_where_the_image_has_nothing() {
        let mut image = vec![1, 1, 0xff, 0, 0, 1];
        insert(&mut image, &[7, 7], 2).unwrap();
        assert_eq!(image, [1, 1, 7, 7, 0, 1]);
        insert(&mut image, &[8], 7).unwrap();
        assert_eq!(image, [1, 1, 7, 7, 0, 1, 0xff, 8]);
        let said = insert(&mut image, &[9, 9], 4).unwrap_err();
        assert!(
            said.contains("at 0x4 there is no room for the payload's 2 bytes: 0x5 is in use"),
            "{said}"
        );
        for offset in [FLASH - 1, u64::MAX] {
            assert!(
                insert(&mut image, &[9, 9], offset)
                    .unwrap_err()
                    .contains("after the flash"),
                "{offset:#x}"
            );
        }
    }

    #[test]
    fn images_that_are_none_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("image");
        let own = OtherFirmware {
            image: image.clone(),
            at: None,
            placement: Placement::Packed,
        };
        assert!(
            own.boot(None)
                .unwrap_err()
                .to_string()
                .contains("image: No such file")
        );
        std::fs::write(&image, []).unwrap();
        assert!(
            own.boot(None)
                .unwrap_err()
                .to_string()
                .contains("0 bytes; an image has 1 to 67108864")
        );
        std::fs::write(&image, [1]).unwrap();
        let beside = OtherFirmware {
            placement: Placement::InMemory,
            ..own
        };
        assert!(
            beside
                .boot(None)
                .unwrap_err()
                .to_string()
                .contains("there is no payload")
        );
        let boot = OtherFirmware {
            at: Some(0x0e00_0000),
            ..beside
        }
        .boot(Some(&image))
        .unwrap();
        assert_eq!(
            boot.loads.iter().map(|(_, at)| *at).collect::<Vec<_>>(),
            [Images::ENTRY, 0x0e00_0000]
        );
        assert_eq!(
            std::fs::read(&boot.flash).unwrap()[8..],
            0x0e00_0000u64.to_le_bytes()
        );
    }
}
