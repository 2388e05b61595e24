//! Ids of items that came without one: made of the line that they stand in and of their place there, so that they are the
//! same whenever somebody looks, and lead back to the line.

use sabir_store::Hash;
use sabir_wire::json::Reader;

use crate::record::digits;

/// Bytes of a hash that stand in an id: no two lines share so many, and vendors take no id of more than 64 characters.
const BYTES: usize = 20;

/// The id of an element of a line, by its place there.
pub(crate) fn derived_id((line, part): (&Hash, u32), item: &str) -> String {
    let mut digits = digits(line);
    digits.truncate(2 * BYTES);
    format!("{}_{digits}_{part}", prefix(item))
}

/// Where an item of such an id stands: the beginning of the line's hash, and the place there.
pub(super) fn derived_from(id: &str) -> Option<(Vec<u8>, u32)> {
    let (_, rest) = id.split_once('_')?;
    let (digits, part) = rest.split_once('_')?;
    let pairs = digits.as_bytes().chunks_exact(2);
    let is_whole = digits.len() == 2 * BYTES;
    let bytes: Option<Vec<u8>> =
        pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect();
    Some((bytes.filter(|_| is_whole)?, part.parse().ok()?))
}

/// What ids of a type of items begin with; providers look at that.
fn prefix(item: &str) -> &'static str {
    let kind = Reader::new(item).peek_tag("type").ok().flatten();
    match kind.as_ref().map(|kind| kind.to_str()).as_deref() {
        None | Some("message") => "msg",
        Some("reasoning") => "rs",
        Some("function_call") => "fc",
        Some("function_call_output") => "fco",
        Some("custom_tool_call") => "ctc",
        Some("custom_tool_call_output") => "ctco",
        Some(_) => "item",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_leads_back_to_its_line() {
        let line = Hash::of_bytes(b"line");
        let id = derived_id((&line, 3), r#"{"type":"function_call"}"#);
        assert!(id.starts_with("fc_") && id.len() <= 64, "{id}");
        assert_eq!(derived_from(&id), Some((line.as_bytes()[..BYTES].to_vec(), 3)));
        let short = id.replacen("_3", "", 1);
        for other in ["", "msg", "msg_1", "msg_ab_1", "rs_ex_0001", &short, &format!("{id}x")] {
            assert_eq!(derived_from(other), None, "{other}");
        }
    }
}
