//! Behaviour that only this protocol has.
