//! Finding things by a key in a list that only grows: few are looked through, many are found in a table.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// So many are faster looked through than hashed.
const FEW: usize = 16;

/// Where the things of one list stand. It is empty as long as they are few.
#[derive(Clone, Debug)]
pub(crate) struct Index<K> {
    places: HashMap<K, usize>,
    /// So many of the list are in the table.
    covered: usize,
}

impl<K> Default for Index<K> {
    fn default() -> Self {
        Self { places: HashMap::new(), covered: 0 }
    }
}

impl<K: Eq + Hash> Index<K> {
    /// Where the last thing with this key stands. It is always the same list, and it has only grown since it was searched
    /// before; a thing keeps its key.
    pub(crate) fn last<T, Q>(
        &mut self,
        list: &[T],
        key: &Q,
        key_of: impl Fn(&T) -> &Q,
    ) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        if list.len() <= FEW {
            return list.iter().rposition(|it| key_of(it) == key);
        }
        for (place, it) in list.iter().enumerate().skip(self.covered) {
            self.places.insert(key_of(it).to_owned(), place);
        }
        self.covered = list.len();
        self.places.get(key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_key_is_found_among_few_and_among_many() {
        let mut index = Index::default();
        let mut list: Vec<usize> = Vec::new();
        for number in 0..100 {
            assert_eq!(index.last(&list, &number, |it| it), None);
            list.extend([number, number]);
            assert_eq!(index.last(&list, &number, |it| it), Some(2 * number + 1));
            assert_eq!(index.last(&list, &0, |it| it), Some(1));
        }
    }
}
