//! Seeded damage of good inputs, for readers of bytes from outside.

use fastrand::Rng;

/// One reader.
#[derive(Clone, Copy)]
pub struct Target {
    /// Name of the reader.
    pub name: &'static str,
    /// Good inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Reads; whether the bytes were taken.
    ///
    /// # Panics
    /// If what was read is not sound: the finding.
    pub run: fn(&[u8]) -> bool,
}

/// A good input with some bytes changed, left out, doubled or put in.
fn damaged(good: &[u8], random: &mut Rng) -> Vec<u8> {
    const WORDS: [&[u8]; 12] = [
        b"\"",
        b"[[",
        b"-1",
        b"1e999",
        b"99999999999999999999",
        b"\n",
        b"\t",
        b"|",
        b"/>",
        b"\xff",
        b"\0",
        b"= 0",
    ];
    let mut bytes = good.to_vec();
    for _ in 0..random.usize(1..6) {
        let at = random.usize(0..=bytes.len());
        let end = (at + random.usize(0..8)).min(bytes.len());
        match random.u8(0..6) {
            0 if at < end => bytes[at] = random.u8(..),
            1 if at < end => bytes[at] ^= 1 << random.u8(0..8),
            2 => drop(bytes.drain(at..end)),
            3 => drop(
                bytes
                    .splice(end..end, bytes[at..end].to_vec())
                    .collect::<Vec<_>>(),
            ),
            4 => drop(
                bytes
                    .splice(
                        at..at,
                        random.choice(WORDS).unwrap_or_default().iter().copied(),
                    )
                    .collect::<Vec<_>>(),
            ),
            _ if random.u8(0..8) == 0 => bytes.truncate(at),
            _ => {}
        }
    }
    bytes
}

/// Damages the good inputs of all targets.
pub fn answered_or_refused(targets: &[Target]) {
    for target in targets {
        let mut random = Rng::with_seed(0x5eed);
        let seeds = (target.seeds)();
        assert!(
            !seeds.is_empty() && seeds.iter().all(|seed| (target.run)(seed)),
            "{}: a seed is refused",
            target.name
        );
        let rounds = match target.name {
            "platform" | "trace_dat" | "perfetto" | "recording" => 500,
            _ => 2_000,
        };
        let (mut answered, mut refused) = (0, 0);
        for round in 0..rounds {
            let bytes = damaged(&seeds[round % seeds.len()], &mut random);
            *(if (target.run)(&bytes) {
                &mut answered
            } else {
                &mut refused
            }) += 1;
        }
        assert!(
            answered > rounds / 50 && refused > rounds / 50,
            "{}: {answered} answered, {refused} refused: too one-sided to tell",
            target.name
        );
    }
}

/// Gives noise to all targets.
pub fn noise_is_refused(targets: &[Target]) {
    let mut random = Rng::with_seed(7);
    let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
        .take(1 << 16)
        .collect();
    for target in targets {
        assert!(!(target.run)(&noise), "{}", target.name);
        // Nothing at all may be an answer: an empty command, a policy of defaults.
        (target.run)(b"");
    }
}
