//! The binary `sabir`.

fn main() {}
