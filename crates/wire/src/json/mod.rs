//! JSON as it was spelled: strings keep their escapes, numbers their digits, objects their order.
//!
//! A reader hands out slices of its input, and a writer copies them to the output.

mod compare;
mod escape;
mod indent;
mod kind;
mod number;
mod pointer;
mod raw;
mod reader;
mod scan;
mod special;
mod string;
mod survey;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod writer;

pub(crate) use indent::indented;
pub use kind::Kind;
pub use number::Number;
pub(crate) use number::push_whole;
pub(crate) use pointer::push_key;
pub use raw::Json;
pub use reader::Reader;
pub use scan::DEPTH_MAX;
pub use survey::Survey;
pub use text::Text;
pub use writer::{Encode, Writer};
