//! Taking a long list apart while another is made of it: memory goes back on the way, so that both are never there whole.

/// The elements of a vector, from the first on.
#[derive(Debug)]
pub(crate) struct Draining<T> {
    /// From the last to the first: only the end of a vector can be given back.
    reversed: Vec<T>,
}

/// What share of the memory may be unused before it is given back, and how many elements are never worth it.
const SHARE: usize = 8;
const FEW: usize = 1_024;

impl<T> Draining<T> {
    pub(crate) fn of(mut elements: Vec<T>) -> Self {
        elements.reverse();
        Self { reversed: elements }
    }
}

impl<T> Iterator for Draining<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let next = self.reversed.pop()?;
        let (left, room) = (self.reversed.len(), self.reversed.capacity());
        if room - left > (room / SHARE).max(FEW) {
            self.reversed.shrink_to_fit();
        }
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.reversed.len(), Some(self.reversed.len()))
    }
}

impl<T> ExactSizeIterator for Draining<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_in_their_order_and_their_room_goes() {
        let mut draining = Draining::of((0..100_000).collect());
        for expected in 0..50_000 {
            assert_eq!(draining.next(), Some(expected));
        }
        assert!(draining.reversed.capacity() < 60_000);
        assert_eq!(draining.len(), 50_000);
        assert!(draining.eq(50_000..100_000));
    }
}
