//! The gateway's own answers, read. Members that this version does not know are passed over.

use sabir_wire::json::{Kind, Reader};

use super::{Conversation, Conversations, Turn, malformed};
use crate::error::Result;

type Read<T> = sabir_wire::Result<T>;

pub(super) fn models(body: &str) -> Result<Vec<String>> {
    let mut models = Vec::new();
    let read = Reader::new(body).object(|key, reader| {
        if key != "data" {
            return reader.skip();
        }
        reader.array(|_, model| {
            model.object(|key, reader| match &*key {
                "id" => text(reader).map(|id| models.push(id)),
                _ => reader.skip(),
            })
        })
    });
    read.map(|()| models).map_err(|error| malformed(&error))
}

pub(super) fn conversations(body: &str) -> Result<Conversations> {
    let mut listing = Conversations::default();
    let read = Reader::new(body).object(|key, reader| {
        match &*key {
            "data" => listing.data = reader.list(|_, reader| read_conversation(reader))?,
            "has_more" => listing.has_more = reader.boolean()?,
            "next" => listing.next = Some(text(reader)?),
            _ => reader.skip()?,
        }
        Ok(())
    });
    read.map(|()| listing).map_err(|error| malformed(&error))
}

pub(super) fn conversation(body: &str) -> Result<Conversation> {
    read_conversation(&mut Reader::new(body)).map_err(|error| malformed(&error))
}

pub(super) fn turns(body: &str) -> Result<Vec<Turn>> {
    let mut turns = Vec::new();
    let read = Reader::new(body).object(|key, reader| {
        match &*key {
            "turns" => turns = reader.list(|_, reader| read_turn(reader))?,
            _ => reader.skip()?,
        }
        Ok(())
    });
    read.map(|()| turns).map_err(|error| malformed(&error))
}

fn read_conversation(reader: &mut Reader<'_>) -> Read<Conversation> {
    let mut it = Conversation::default();
    reader.object(|key, reader| {
        match &*key {
            "id" => it.id = text(reader)?,
            "title" => it.title = text(reader)?,
            "created_at" => it.created_at = reader.i64()?,
            "updated_at" => it.updated_at = reader.i64()?,
            "turns" => it.turns = reader.u64()?,
            "protocols" => it.protocols = reader.list(|_, reader| text(reader))?,
            "models" => it.models = reader.list(|_, reader| text(reader))?,
            "unreadable" => it.unreadable = Some(text(reader)?),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(it)
}

fn read_turn(reader: &mut Reader<'_>) -> Read<Turn> {
    let mut it = Turn::default();
    reader.object(|key, reader| {
        if reader.kind()? == Kind::Null {
            return reader.null();
        }
        match &*key {
            "id" => it.id = text(reader)?,
            "created_at" => it.created_at = reader.i64()?,
            "client_protocol" => it.client_protocol = text(reader)?,
            "provider" => it.provider = Some(text(reader)?),
            "model" => it.model = Some(text(reader)?),
            "status" => it.status = text(reader)?,
            "usage" => it.usage = Some(reader.raw()?.into_owned()),
            "losses" => it.losses = Some(reader.raw()?.into_owned()),
            "exchange" => it.exchange = Some(text(reader)?),
            "parent" => it.parent = Some(text(reader)?),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(it)
}

fn text(reader: &mut Reader<'_>) -> Read<String> {
    Ok(reader.string()?.into_str().into_owned())
}
