//! Values on their way into a query and out of it. Columns are whole numbers, text and bytes; nothing else is needed.

use crate::clock::Time;
use crate::error::{Error, Result};
use crate::id::{
    ConversationId, ExchangeId, Hash, ItemId, Name, NodeId, Owner, ResponseId, TurnId,
};
use crate::pack::unpacked;
use crate::record::{Record, Title};

/// A parameter of a query.
#[derive(Clone, Copy)]
pub(crate) enum Param<'a> {
    Null,
    Integer(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
    /// A record, which its column holds packed.
    Record(&'a [u8]),
}

/// A parameter that may be missing.
pub(crate) fn optional<'a, T>(value: Option<&'a T>) -> Param<'a>
where
    Param<'a>: From<&'a T>,
{
    value.map_or(Param::Null, Param::from)
}

impl From<i64> for Param<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<Time> for Param<'_> {
    fn from(time: Time) -> Self {
        Self::Integer(time.0)
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Hash> for Param<'a> {
    fn from(hash: &'a Hash) -> Self {
        Self::Bytes(hash.as_bytes())
    }
}

impl<'a> From<&'a Record> for Param<'a> {
    fn from(record: &'a Record) -> Self {
        Self::Record(record.as_bytes())
    }
}

macro_rules! text_params {
    ($($name:ty),*) => {$(
        impl<'a> From<&'a $name> for Param<'a> {
            fn from(id: &'a $name) -> Self {
                Self::Text(id.as_str())
            }
        }
    )*};
}

text_params!(ConversationId, ExchangeId, ItemId, Name, NodeId, Owner, ResponseId, Title, TurnId);

/// A value of a row.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// A row, read from its first column on.
pub(crate) struct Row(std::vec::IntoIter<Value>);

impl Row {
    pub(crate) fn new(values: Vec<Value>) -> Self {
        Self(values.into_iter())
    }

    /// The next column.
    pub(crate) fn take<T: Column>(&mut self) -> Result<T> {
        let value =
            self.0.next().ok_or_else(|| Error::corrupt("a row of the store is too short"))?;
        T::from_value(value)
    }
}

/// What can be read from a column.
pub(crate) trait Column: Sized {
    fn from_value(value: Value) -> Result<Self>;
}

fn unexpected<T>() -> Result<T> {
    Err(Error::corrupt("a column of the store holds something else than was kept there"))
}

impl Column for i64 {
    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Integer(number) => Ok(number),
            Value::Null | Value::Text(_) | Value::Bytes(_) => unexpected(),
        }
    }
}

impl Column for String {
    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Text(text) => Ok(text),
            Value::Null | Value::Integer(_) | Value::Bytes(_) => unexpected(),
        }
    }
}

impl Column for Vec<u8> {
    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Bytes(bytes) => Ok(bytes),
            Value::Null | Value::Integer(_) | Value::Text(_) => unexpected(),
        }
    }
}

impl Column for Record {
    fn from_value(value: Value) -> Result<Self> {
        Self::new(unpacked(Vec::from_value(value)?)?)
    }
}

impl Column for Hash {
    fn from_value(value: Value) -> Result<Self> {
        Self::from_bytes(&Vec::from_value(value)?)
    }
}

impl Column for Time {
    fn from_value(value: Value) -> Result<Self> {
        i64::from_value(value).map(Self)
    }
}

impl Column for Owner {
    fn from_value(value: Value) -> Result<Self> {
        String::from_value(value).map(Self::from_column)
    }
}

impl Column for Title {
    fn from_value(value: Value) -> Result<Self> {
        String::from_value(value).map(|text| Self::new(&text))
    }
}

impl<T: Column> Column for Option<T> {
    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

macro_rules! text_columns {
    ($($name:ty),*) => {$(
        impl Column for $name {
            fn from_value(value: Value) -> Result<Self> {
                Self::new(String::from_value(value)?)
            }
        }
    )*};
}

text_columns!(ConversationId, ExchangeId, ItemId, Name, NodeId, ResponseId, TurnId);
