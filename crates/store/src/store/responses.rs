//! Responses and items.

use crate::engine::Durability;
use crate::error::Result;
use crate::id::{ItemId, Owner, ResponseId, TurnId};
use crate::response::{
    DeleteResponse, Item, ItemPage, ListItems, ReadItems, ReadResponse, Response,
};
use crate::store::Store;

impl Store {
    pub async fn response(&self, owner: &Owner, id: &ResponseId) -> Result<Response> {
        let read = ReadResponse { owner: owner.clone(), id: id.clone() };
        self.inner.engine.read(read).await
    }

    pub async fn delete_response(&self, owner: &Owner, id: &ResponseId) -> Result<()> {
        let delete = DeleteResponse { owner: owner.clone(), id: id.clone() };
        self.inner.engine.write(Durability::Durable, delete).await
    }

    /// Items by their ids, in the order of the ids; `None` for those that nobody knows.
    pub async fn items(&self, owner: &Owner, ids: Vec<ItemId>) -> Result<Vec<Option<Item>>> {
        self.inner.engine.read(ReadItems { owner: owner.clone(), ids }).await
    }

    /// A page of a turn's items.
    pub async fn list_items(
        &self,
        owner: &Owner,
        turn: &TurnId,
        page: ItemPage,
    ) -> Result<Vec<Item>> {
        let list = ListItems { owner: owner.clone(), turn: turn.clone(), page };
        self.inner.engine.read(list).await
    }
}
