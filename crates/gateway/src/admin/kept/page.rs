//! Lists in pages, as OpenAI's clients turn them.

use http::Uri;
use sabir_backend::percent;
use sabir_store::{ItemId, Order};
use sabir_wire::FaultKind;
use sabir_wire::json::Writer;

use super::item::Item;
use crate::failure::{Failure, Result};

/// A page as the query asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) after: Option<String>,
    pub(super) limit: u32,
    pub(super) order: Order,
}

const LIMIT: u32 = 20;
const LIMIT_MAX: u32 = 100;

impl Page {
    pub(super) fn of(uri: &Uri) -> Result<Self> {
        let limit = match parameter(uri, "limit") {
            None => LIMIT,
            Some(text) => {
                let limit = text.parse().ok().filter(|limit| (1..=LIMIT_MAX).contains(limit));
                limit.ok_or_else(|| invalid("limit", "a number from 1 to 100"))?
            }
        };
        let order = match parameter(uri, "order").as_deref() {
            None | Some("desc") => Order::Descending,
            Some("asc") => Order::Ascending,
            Some(_) => return Err(invalid("order", "`asc` or `desc`")),
        };
        Ok(Self { after: parameter(uri, "after"), limit, order })
    }

    pub(super) fn after_item(&self) -> Result<Option<ItemId>> {
        let after = self.after.as_deref().map(ItemId::new).transpose();
        after.map_err(|_| self.unknown_cursor())
    }

    pub(super) fn unknown_cursor(&self) -> Box<Failure> {
        let id = self.after.as_deref().unwrap_or_default();
        let message = format!("Item with id '{id}' not found.");
        Failure::client(FaultKind::NotFound, message).with_param("after")
    }
}

fn invalid(name: &'static str, expected: &str) -> Box<Failure> {
    let message = format!("Invalid '{name}': expected {expected}.");
    Failure::client(FaultKind::BadRequest, message).with_param(name)
}

/// A parameter of the query, decoded.
pub(super) fn parameter(uri: &Uri, name: &str) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    let mut values = pairs.filter(|(key, _)| percent::decode(key) == name);
    values.next().map(|(_, value)| percent::decode(value))
}

/// A page as it is sent.
pub(super) fn written(items: &[Item], has_more: bool) -> sabir_wire::Result<String> {
    let mut writer = Writer::with_capacity(1024);
    let mut written = Ok(());
    writer.object(|it| {
        it.field("object", "list");
        it.key("data");
        it.array(|list| {
            for item in items {
                if let Err(error) = item.write(list) {
                    written = Err(error);
                }
            }
        });
        it.field("first_id", &items.first().map(|item| item.id.as_str()));
        it.field("last_id", &items.last().map(|item| item.id.as_str()));
        it.field("has_more", &has_more);
    });
    written.map(|()| writer.into_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_limits() {
        let page = |query: &str| Page::of(&format!("/x?{query}").parse().unwrap());
        assert_eq!(page("").unwrap(), Page { after: None, limit: 20, order: Order::Descending });
        let asked = page("limit=2&order=asc&after=msg_1&include[]=a").unwrap();
        let expected = Page { after: Some("msg_1".to_owned()), limit: 2, order: Order::Ascending };
        assert_eq!(asked, expected);
        assert!(page("limit=0").is_err());
        assert!(page("limit=101").is_err());
        assert!(page("order=up").is_err());
    }
}
