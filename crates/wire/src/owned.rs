//! Values that outlive the input they were read from: each type names its fields once, and all that they borrow is copied.

use std::borrow::Cow;

use crate::conversation::{
    AllowedMode, CallForm, Count, Counts, FinishKind, HostedService, MediaKind, Parts,
    ReasoningForm, Role, ThinkingMode,
};
use crate::fault::FaultKind;
use crate::json::{Json, Number, Text};
use crate::overflow::Overflow;
use crate::place::Place;
use crate::protocol::{ArtefactKind, Extras, Field, NoteAt, PartId, Protocol};

/// A value that can be made to borrow nothing.
pub(crate) trait Own {
    type Owned;

    fn own(self) -> Self::Owned;
}

impl<T: Own> Own for Option<T> {
    type Owned = Option<T::Owned>;

    fn own(self) -> Self::Owned {
        self.map(T::own)
    }
}

impl<T: Own> Own for Vec<T> {
    type Owned = Vec<T::Owned>;

    fn own(self) -> Self::Owned {
        self.into_iter().map(T::own).collect()
    }
}

impl<T: Own> Own for Box<T> {
    type Owned = Box<T::Owned>;

    fn own(self) -> Self::Owned {
        Box::new((*self).own())
    }
}

impl<A: Own, B: Own> Own for (A, B) {
    type Owned = (A::Owned, B::Owned);

    fn own(self) -> Self::Owned {
        (self.0.own(), self.1.own())
    }
}

impl Own for Cow<'_, str> {
    type Owned = Cow<'static, str>;

    fn own(self) -> Cow<'static, str> {
        Cow::Owned(self.into_owned())
    }
}

/// Types that borrow nothing.
macro_rules! plain {
    ($($type:ty),* $(,)?) => {
        $(
            impl $crate::owned::Own for $type {
                type Owned = Self;

                fn own(self) -> Self {
                    self
                }
            }
        )*
    };
}

plain!(bool, f64, u32, u64, usize, &'static str, Place, Protocol, Field, PartId, NoteAt);
plain!(Role, MediaKind, CallForm, ReasoningForm, ThinkingMode, AllowedMode, HostedService);
plain!(FinishKind, FaultKind, Overflow, ArtefactKind, Count, Counts);

/// Types that have a function `into_owned` of their own.
macro_rules! owned {
    ($($type:ident),* $(,)?) => {
        $(
            impl $crate::owned::Own for $type<'_> {
                type Owned = $type<'static>;

                fn own(self) -> Self::Owned {
                    self.into_owned()
                }
            }
        )*
    };
}

/// Gives structs, by their fields, and enums, by their variants, a function `into_owned`.
macro_rules! into_owned {
    () => {};
    ($vis:vis struct $type:ident { $($field:ident),* $(,)? } $($rest:tt)*) => {
        impl $type<'_> {
            $vis fn into_owned(self) -> $type<'static> {
                use $crate::owned::Own;
                $type { $( $field: self.$field.own(), )* }
            }
        }
        $crate::owned::owned!($type);
        $crate::owned::into_owned!($($rest)*);
    };
    ($vis:vis enum $type:ident {
        $( $variant:ident $( ( $($value:ident),* ) )? $( { $($field:ident),* } )? ),* $(,)?
    } $($rest:tt)*) => {
        impl $type<'_> {
            $vis fn into_owned(self) -> $type<'static> {
                use $crate::owned::Own;
                match self {
                    $(
                        Self::$variant $( ( $($value),* ) )? $( { $($field),* } )? => {
                            $type::$variant $( ( $($value.own()),* ) )? $( { $($field: $field.own()),* } )?
                        }
                    )*
                }
            }
        }
        $crate::owned::owned!($type);
        $crate::owned::into_owned!($($rest)*);
    };
}

owned!(Text, Json, Number, Parts, Extras);

pub(crate) use into_owned;
pub(crate) use owned;
pub(crate) use plain;
