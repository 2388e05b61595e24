//! What a memory of conversations needs: a request's history element by element, with what each element means; histories
//! that were kept, as messages of a later request; and answers as the elements that they become.
//!
//! An element is kept exactly as it was sent, so that nobody has to deserialise semantics: they are read off the wire again,
//! by the code that may write them. Elements are found again by what they mean, and two tellings of a conversation are compared by
//! it.

mod adopt;
mod answer;
mod coverage;
mod entry;
mod kept;
mod meaning;
mod mixed;
mod normal;
mod outline;

pub use coverage::Coverage;
pub use entry::{Entries, Entry};
pub use kept::Kept;
pub use meaning::Element;
pub(super) use meaning::call_meaning;
pub use outline::{Contents, Outline};
