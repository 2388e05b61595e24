//! Namespaces: what one protocol alone can say of a request, each field declared, documented and given its fate.

use crate::loss::LossKind;

/// A field that only one protocol has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its path in the request body, without a leading slash.
    pub path: &'static str,
    /// What becomes of it in every other protocol.
    pub kind: LossKind,
    pub reason: &'static str,
}

pub(in super::super) const fn renamed(path: &'static str, reason: &'static str) -> Declared {
    Declared { path, kind: LossKind::Renamed, reason }
}

pub(in super::super) const fn implied(path: &'static str, reason: &'static str) -> Declared {
    Declared { path, kind: LossKind::Implied, reason }
}

pub(in super::super) const fn approximated(path: &'static str, reason: &'static str) -> Declared {
    Declared { path, kind: LossKind::Approximated, reason }
}

pub(in super::super) const fn dropped(path: &'static str, reason: &'static str) -> Declared {
    Declared { path, kind: LossKind::Dropped, reason }
}

/// Declares a namespace: a struct of raw fields that everyone may read and only `protocol/` can write.
///
/// A path with a slash is a field of an object inside the body, such as `generationConfig/speechConfig`.
macro_rules! namespace {
    (
        $(#[$doc:meta])*
        pub struct $name:ident {
            $( $(#[$field_doc:meta])* $field:ident: $path:literal => $kind:ident, $reason:literal; )*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $name<'a> {
            $( $field: Option<$crate::json::Json<'a>>, )*
        }

        impl<'a> $name<'a> {
            /// Every field of the contract, in the order of its declaration.
            pub const DECLARED: &'static [$crate::protocol::semantics::Declared] = &[
                $( $crate::protocol::semantics::Declared {
                    path: $path,
                    kind: $crate::loss::LossKind::$kind,
                    reason: $reason,
                }, )*
            ];

            $(
                $(#[$field_doc])*
                pub fn $field(&self) -> Option<&$crate::json::Json<'a>> {
                    self.$field.as_ref()
                }
            )*

            /// Takes the value of a declared field, or hands it back.
            pub(in crate::protocol) fn take(
                &mut self,
                path: &str,
                json: $crate::json::Json<'a>,
            ) -> Result<(), $crate::json::Json<'a>> {
                match path {
                    $( $path => self.$field = Some(json), )*
                    _ => return Err(json),
                }
                Ok(())
            }

            /// The fields that were set, each with its declaration.
            pub fn set(
                &self,
            ) -> impl Iterator<Item = (&'static $crate::protocol::semantics::Declared, &$crate::json::Json<'a>)> {
                let values = [ $( self.$field.as_ref(), )* ];
                Self::DECLARED.iter().zip(values).filter_map(|(declared, value)| Some((declared, value?)))
            }
        }

        $crate::owned::into_owned! { pub struct $name { $( $field ),* } }
    };
}
pub(in super::super) use namespace;
