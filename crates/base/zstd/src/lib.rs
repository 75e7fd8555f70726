//! The part of the crate `zstd` that `parquet` uses, on `ruzstd`, which the program has anyway: so
//! a build compiles no C, and needs no C compiler. `Cargo.toml` puts it in the place of the crate
//! of that name. Levels of compression mean nothing here; recordings are written with Snappy.
#![forbid(unsafe_code)]

/// Compression and decompression of whole frames.
pub mod bulk {
    use ruzstd::decoding::StreamingDecoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::{Cursor, Error, ErrorKind, Read, Result};
    use std::marker::PhantomData;

    /// Compresses frames.
    pub struct Compressor<'a>(PhantomData<&'a ()>);

    impl Compressor<'_> {
        /// Makes a compressor; every level is the same one.
        ///
        /// # Errors
        /// None.
        pub fn new(_level: i32) -> Result<Self> {
            Ok(Self(PhantomData))
        }

        /// Appends a frame with `source` to the vector at the cursor's position; returns its bytes.
        ///
        /// # Errors
        /// None.
        pub fn compress_to_buffer(
            &mut self,
            source: &[u8],
            target: &mut Cursor<&mut Vec<u8>>,
        ) -> Result<usize> {
            let frame = compress_to_vec(source, CompressionLevel::Fastest);
            append(target, &frame);
            Ok(frame.len())
        }
    }

    /// Decompresses frames.
    pub struct Decompressor<'a>(PhantomData<&'a ()>);

    impl Decompressor<'_> {
        /// Makes a decompressor.
        ///
        /// # Errors
        /// None.
        pub fn new() -> Result<Self> {
            Ok(Self(PhantomData))
        }

        /// Appends the content of a frame to the vector at the cursor's position, as far as the
        /// vector has room; returns its bytes.
        ///
        /// # Errors
        /// The frame is damaged, or its content needs more room.
        pub fn decompress_to_buffer(
            &mut self,
            source: &[u8],
            target: &mut Cursor<&mut Vec<u8>>,
        ) -> Result<usize> {
            let room = target.get_ref().capacity().saturating_sub(position(target));
            let decoder = StreamingDecoder::new(source)
                .map_err(|error| Error::new(ErrorKind::InvalidData, format!("{error}")))?;
            let mut content = Vec::with_capacity(room);
            decoder.take(room as u64 + 1).read_to_end(&mut content)?;
            if content.len() > room {
                return Err(Error::new(
                    ErrorKind::InvalidData,
                    "the content is longer than the file says",
                ));
            }
            append(target, &content);
            Ok(content.len())
        }
    }

    fn position(target: &Cursor<&mut Vec<u8>>) -> usize {
        usize::try_from(target.position()).unwrap_or(usize::MAX)
    }

    fn append(target: &mut Cursor<&mut Vec<u8>>, bytes: &[u8]) {
        let at = position(target);
        let vector = target.get_mut();
        vector.truncate(at);
        vector.extend_from_slice(bytes);
        target.set_position((at + bytes.len()) as u64);
    }
}

/// Facts of frames.
pub mod zstd_safe {
    /// The bytes of a frame's content; `None`, since `ruzstd` does not tell: Parquet's page headers
    /// do.
    ///
    /// # Errors
    /// None.
    pub fn get_frame_content_size(_frame: &[u8]) -> Result<Option<u64>, String> {
        Ok(None)
    }

    /// The most bytes that a frame with so much content takes: raw blocks of 128 KiB and their
    /// headers.
    #[must_use]
    pub fn compress_bound(content: usize) -> usize {
        content + content / 1024 + 64
    }
}

#[cfg(test)]
mod tests {
    use super::bulk::{Compressor, Decompressor};
    use std::io::Cursor;

    #[test]
    fn content_comes_back_behind_what_was_there_and_no_further_than_there_is_room() {
        let content = b"where time goes, and why; ".repeat(1000);
        let mut frame = Vec::new();
        Compressor::new(3)
            .unwrap()
            .compress_to_buffer(&content, &mut Cursor::new(&mut frame))
            .unwrap();
        assert!(frame.len() < content.len() / 4);
        let mut out = b"head".to_vec();
        out.reserve_exact(content.len());
        let decompressed = |frame: &[u8], out: &mut Vec<u8>| {
            let mut cursor = Cursor::new(out);
            cursor.set_position(4);
            Decompressor::new()
                .unwrap()
                .decompress_to_buffer(frame, &mut cursor)
        };
        assert_eq!(decompressed(&frame, &mut out).unwrap(), content.len());
        assert_eq!((&out[..4], &out[4..]), (&b"head"[..], &content[..]));
        assert!(
            decompressed(&frame, &mut Vec::from(*b"head")).is_err(),
            "no room"
        );
        assert!(
            decompressed(&frame[..frame.len() / 2], &mut out).is_err(),
            "damaged"
        );
    }
}
