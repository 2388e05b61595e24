//! Names and ids of calls as the caller knows them, whatever the protocol made of them.

use std::collections::HashSet;
use std::fmt;

use sabir_wire::json::Text;
use sabir_wire::unified::{UnifiedCall, UnifiedMessage};

/// What calls of an answer are to be called.
#[derive(Clone, Default)]
pub(crate) struct Names {
    /// The provider's names of tools and the caller's, where they differ.
    tools: Vec<(String, String)>,
    /// The ids of the calls so far.
    ids: HashSet<String>,
}

impl Names {
    pub(crate) fn new(renamed: &[(Text<'_>, Text<'_>)], messages: &[UnifiedMessage]) -> Self {
        let own = |text: &Text<'_>| text.to_str().into_owned();
        let calls = messages.iter().flat_map(|message| &message.tool_calls);
        Self {
            tools: renamed.iter().map(|(theirs, ours)| (own(theirs), own(ours))).collect(),
            ids: calls.map(|call| call.id.clone()).collect(),
        }
    }

    /// The call with the caller's name of its tool, and with an id where its protocol has none.
    pub(crate) fn restore(&mut self, mut call: UnifiedCall) -> UnifiedCall {
        if let Some((_, ours)) = self.tools.iter().find(|(theirs, _)| *theirs == call.name) {
            call.name.clone_from(ours);
        }
        if call.id.is_empty() {
            let is_free = |id: &String| !self.ids.contains(id);
            let made = (1_u64..).map(|number| format!("call_{number}")).find(is_free);
            call.id = made.unwrap_or_default();
        }
        self.ids.insert(call.id.clone());
        call
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").field("tools", &self.tools).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use sabir_wire::json::Json;

    use super::*;

    #[test]
    fn a_call_without_an_id_gets_one_that_nobody_has() {
        let mut earlier = UnifiedMessage::assistant("");
        earlier.tool_calls = vec![sabir_wire::unified::UnifiedToolCall {
            id: "call_1".to_owned(),
            name: "f".to_owned(),
            arguments: "{}".to_owned(),
        }];
        let mut names = Names::new(&[(Text::plain("fs_read"), Text::plain("fs.read"))], &[earlier]);
        let call = |name: &str| UnifiedCall {
            id: String::new(),
            name: name.to_owned(),
            input: Json::literal("{}"),
        };
        let restored = [names.restore(call("fs_read")), names.restore(call("other"))];
        let names = restored.map(|call| (call.id, call.name));
        assert_eq!(names[0], ("call_2".to_owned(), "fs.read".to_owned()));
        assert_eq!(names[1], ("call_3".to_owned(), "other".to_owned()));
    }
}
