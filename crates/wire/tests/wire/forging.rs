//! Semantics cannot be written, forged or moved by anyone outside the protocols: such code does not compile.

#[test]
fn semantics_are_read_only_outside_the_protocols() {
    trybuild::TestCases::new().compile_fail("tests/wire/compile_fail/*.rs");
}
