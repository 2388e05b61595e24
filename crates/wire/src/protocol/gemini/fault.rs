//! Errors, both ways.

use crate::fault::Fault;

pub(in crate::protocol) fn decode_fault(_status: u16, _body: &str) -> Fault<'static> {
    unimplemented!()
}

pub(in crate::protocol) fn encode_fault(_fault: &Fault<'_>) -> (u16, String) {
    unimplemented!()
}
