//! Every reader of bytes from outside, against seeded damage of good inputs: an answer or an error,
//! never a panic.

mod damage;
mod readers;
mod recordings;

use readers::TARGETS;

#[test]
fn damaged_inputs_are_answered_or_refused() {
    damage::answered_or_refused(&TARGETS);
}

#[test]
fn noise_is_refused() {
    damage::noise_is_refused(&TARGETS);
}
