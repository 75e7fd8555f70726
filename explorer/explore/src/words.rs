//! Names of words that lie one thing after the other.

/// How many things of a kind there are, what each is called, and the names of what each has.
pub type Things = (usize, &'static str, &'static [&'static str]);

/// What lies at a place.
pub struct Named {
    /// The number of its name among those of all kinds of things.
    pub kind: usize,
    /// The thing that has it.
    pub of: &'static str,
    pub which: usize,
    pub name: &'static str,
}

/// What lies at a place where things have what they have one after the other; what is left of the
/// place behind all of them, as an error.
pub fn find(things: &[Things], place: usize) -> Result<Named, usize> {
    let (mut at, mut kinds) = (place, 0);
    for &(count, of, names) in things {
        let each = names.len();
        if at < count * each {
            return Ok(Named {
                kind: kinds + at % each,
                of,
                which: at / each,
                name: names[at % each],
            });
        }
        at -= count * each;
        kinds += each;
    }
    Err(at)
}

/// What lies at a place in words, and behind all things what `rest` says.
pub fn words(things: &[Things], place: usize, rest: impl FnOnce(usize) -> String) -> String {
    match find(things, place) {
        Ok(Named { of: "", name, .. }) => name.to_owned(),
        Ok(Named {
            of, which, name, ..
        }) => format!("{of} {which}'s {name}"),
        Err(at) => rest(at),
    }
}
