//! Answers that were kept: read, deleted, and what they were asked with.

use http::Uri;
use sabir_store::{Direction, ItemPage, Response, ResponseId};
use sabir_wire::FaultKind;
use sabir_wire::json::Writer;

use super::item::Item;
use super::page::{Page, parameter};
use super::{Shelf, absent, page, present};
use crate::failure::{Failure, Result};
use crate::recall::item_text;
use crate::surface::Kept;

impl Shelf {
    async fn response(&self, id: &str) -> Result<Response> {
        let missing = || absent(&Kept::ReadAnswer(id.to_owned()));
        let known = ResponseId::new(id).map_err(|_| missing())?;
        present(self.store.response(&self.owner, &known).await, missing)
    }

    /// The answer as it was given.
    pub(super) async fn read_answer(&self, id: &str, uri: &Uri) -> Result<String> {
        let response = self.response(id).await?;
        if parameter(uri, "stream").is_some_and(|value| value == "true") {
            let message =
                "This response cannot be streamed because it was not created with background=true.";
            return Err(Failure::client(FaultKind::BadRequest, message).with_param("stream"));
        }
        let unreadable = || absent(&Kept::ReadAnswer(id.to_owned()));
        String::from_utf8(response.body.into_bytes()).map_err(|_| unreadable())
    }

    pub(super) async fn delete_answer(&self, id: &str) -> Result<String> {
        let missing = || absent(&Kept::DeleteAnswer(id.to_owned()));
        let known = ResponseId::new(id).map_err(|_| missing())?;
        present(self.store.delete_response(&self.owner, &known).await, missing)?;
        let mut writer = Writer::default();
        writer.object(|it| {
            it.field("id", id);
            it.field("object", "response");
            it.field("deleted", &true);
        });
        Ok(writer.into_string())
    }

    /// What is answered at once cannot be cancelled any more.
    pub(super) async fn cancel_answer(&self, id: &str) -> Result<String> {
        self.response(id).await?;
        let message = "Cannot cancel a synchronous response.";
        Err(Failure::client(FaultKind::BadRequest, message))
    }

    /// What an answer was asked with: its own input, not that of those before it.
    pub(super) async fn list_input(&self, id: &str, uri: &Uri) -> Result<String> {
        let response = self.response(id).await?;
        let page = Page::of(uri)?;
        let asked = ItemPage {
            direction: Direction::Input,
            order: page.order,
            after: page.after_item()?,
            limit: page.limit + 1,
        };
        let listed = self.store.list_items(&self.owner, &response.turn, asked).await;
        let missing = || page.unknown_cursor();
        let mut rows = present(listed, missing)?;
        let has_more = rows.len() > page.limit as usize;
        rows.truncate(page.limit as usize);
        let mut items = Vec::with_capacity(rows.len());
        for row in rows {
            if let Some(text) = item_text(&self.store, &self.owner, &row).await? {
                items.push(Item::new(row.id.as_str().to_owned(), text));
            }
        }
        Ok(page::written(&items, has_more)?)
    }
}
