//! Lists in the order in which things first come.

/// The different items, in the order in which each first comes.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    grouped(items.into_iter().map(|item| (item, ())))
        .into_iter()
        .map(|(item, _)| item)
        .collect()
}

/// A number as a key to sort by: keys lie in the order of [`f64::total_cmp`].
pub fn total_order(number: f64) -> i64 {
    let bits = number.to_bits().cast_signed();
    bits ^ (i64::MAX & (bits >> 63))
}

/// The place of the first item that is meant; of a new one at the end where there is none.
pub fn place_of<T>(
    items: &mut Vec<T>,
    is_meant: impl FnMut(&T) -> bool,
    new: impl FnOnce() -> T,
) -> usize {
    items.iter().position(is_meant).unwrap_or_else(|| {
        items.push(new());
        items.len() - 1
    })
}

/// The items that belong together by their keys, in the order in which each key first comes.
pub fn grouped<T, K: PartialEq>(items: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, item) in items {
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}
