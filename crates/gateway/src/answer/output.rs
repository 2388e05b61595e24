//! The bytes that wait to leave, mostly those of one read in one piece.

use bytes::Bytes;

#[derive(Debug, Default)]
pub(super) enum Output {
    #[default]
    Nothing,
    One(Bytes),
    Several(Vec<u8>),
}

impl Output {
    pub(super) fn add(&mut self, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        *self = match std::mem::take(self) {
            Self::Nothing => Self::One(Bytes::copy_from_slice(data)),
            Self::One(first) => Self::Several([&first[..], data].concat()),
            Self::Several(mut bytes) => {
                bytes.extend_from_slice(data);
                Self::Several(bytes)
            }
        };
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::One(bytes) => bytes.len(),
            Self::Several(bytes) => bytes.len(),
        }
    }

    pub(super) fn take(&mut self) -> Option<Bytes> {
        match std::mem::take(self) {
            Self::Nothing => None,
            Self::One(bytes) => Some(bytes),
            Self::Several(bytes) => Some(bytes.into()),
        }
    }
}

impl From<Bytes> for Output {
    fn from(bytes: Bytes) -> Self {
        match bytes.is_empty() {
            true => Self::Nothing,
            false => Self::One(bytes),
        }
    }
}
