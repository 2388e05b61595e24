//! The rows of exchanges in the store: all that the metadata of a call is, nothing of what was said in it, and a gateway that
//! serves whether or not the store works.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use sabir_store::{
    Clock, DayUsage, Exchange, ExchangeId, NodeId, Options, Owner, Store, Time, Tokens,
};
use serde_json::Value;

use crate::harness::*;
use crate::waiting::wait_for;

const CHAT: &str = "/v1/chat/completions";

/// A folder with a store in it, which goes with it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Relaxed);
        let name = format!("sabir-rows-{}-{number}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).unwrap();
        folder
    }

    fn url(&self) -> String {
        format!("sqlite:{}", self.0.join("rows.db").display())
    }

    /// The section of a configuration.
    pub(crate) fn toml(&self, record: &str) -> String {
        format!("\n[store]\nurl = \"{}\"\nrecord = \"{record}\"\n", self.url())
    }

    /// The files of the store, those beside the database too. The store may just be removing one of these.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        let read = |path: PathBuf| match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            bytes => Some((path, bytes.unwrap())),
        };
        entries.filter_map(read).collect()
    }

    /// What the store takes of its file, the log beside it included.
    pub(crate) fn bytes(&self) -> i64 {
        let connection = rusqlite::Connection::open(self.0.join("rows.db")).unwrap();
        let number =
            |pragma: &str| -> i64 { connection.query_row(pragma, [], |row| row.get(0)).unwrap() };
        number("PRAGMA wal_checkpoint(TRUNCATE)");
        let pages = number("PRAGMA page_count") - number("PRAGMA freelist_count");
        pages * number("PRAGMA page_size")
    }

    /// A file of the store that holds a text, if one does.
    pub(crate) fn holds(&self, text: &str) -> Option<PathBuf> {
        let is_in = |bytes: &[u8]| bytes.windows(text.len()).any(|it| it == text.as_bytes());
        self.files().into_iter().find(|(_, bytes)| is_in(bytes)).map(|(path, _)| path)
    }

    /// The rows of these exchanges, and the sums of their days.
    fn read(&self, owner: &Owner, ids: &[String]) -> (Vec<Exchange>, Vec<DayUsage>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let node = NodeId::new("reader").unwrap();
            let (data_folder, clock) = (self.0.clone(), Clock::System);
            let options = Options { node, data_folder, clock, form: None };
            let store = Store::open(&self.url(), options).await.unwrap();
            let mut rows = Vec::new();
            for id in ids {
                let id = ExchangeId::new(id.as_str()).unwrap();
                rows.push(store.exchange(owner, &id).await.unwrap());
            }
            (rows, store.usage(owner, Time(0)).await.unwrap())
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn exchange_of(reply: &Reply) -> String {
    reply.header("sabir-exchange").unwrap().to_owned()
}

/// A row in a line: outcome, who answered, and each try.
fn stated(row: &Exchange) -> String {
    let provider = row.provider.as_ref().map_or("nobody", |it| it.as_str());
    let tries = row.attempts.iter().map(|it| format!("{}:{}", it.provider, it.outcome));
    let tries: Vec<String> = tries.collect();
    format!("{} {} {provider} [{}]", row.protocol, row.outcome, tries.join(" "))
}

#[test]
fn every_call_has_its_row_and_the_days_are_the_sums_of_rows() {
    let folder = Folder::new();
    let away = "{\"error\":{\"message\":\"no\",\"type\":\"server_error\"}}";
    let first = Provider::start(vec![Script::Reply(json(503, "", away))]);
    let second = Provider::whole(&chat_answer("hi"));
    let targets = "[{ provider = \"a\", model = \"one\" }, { provider = \"b\", model = \"two\" }]";
    let toml = [
        first.toml("a", "openai-chat"),
        second.toml("b", "openai-chat"),
        format!("\n[[model]]\nname = \"both\"\ntargets = {targets}\n"),
        folder.toml("metadata"),
    ];
    let mut gateway = Running::start(&toml.concat());
    let replies = [
        gateway.post("/v1/messages", &messages("both", false)),
        gateway.post(CHAT, &chat("b/m", false)),
        gateway.post(CHAT, &chat("a/m", false)),
        gateway.post(CHAT, &chat("nobody-has-it", false)),
    ];
    gateway.stop();
    let ids: Vec<String> = replies.iter().map(exchange_of).collect();
    let (rows, days) = folder.read(&Owner::nobody(), &ids);
    let lines: Vec<String> = rows.iter().map(stated).collect();
    assert_eq!(
        lines,
        [
            "anthropic-messages answered b [a:failed a:failed b:answered]",
            "openai-chat answered b [b:answered]",
            "openai-chat upstream_error a [a:failed a:upstream_error]",
            "openai-chat client_error nobody []",
        ]
    );
    assert_eq!(rows[0].model.as_ref().unwrap().as_str(), "two");
    assert_eq!(rows[0].attempts[0].model.as_str(), "one");
    assert_eq!((rows[1].tokens.input, rows[1].tokens.output), (3, 2));
    let sum = |count: fn(&Tokens) -> u64| rows.iter().map(|row| count(&row.tokens)).sum::<u64>();
    let total = |count: fn(&Tokens) -> u64| days.iter().map(|day| count(&day.tokens)).sum::<u64>();
    assert_eq!(days.iter().map(|day| day.calls).sum::<u64>(), rows.len() as u64);
    assert_eq!(total(|it| it.input), sum(|it| it.input));
    assert_eq!(total(|it| it.output), sum(|it| it.output));
}

#[test]
fn rows_belong_to_the_key_that_asked() {
    let folder = Folder::new();
    let keys = "[auth]\nrequired = true\n[[auth.key]]\nname = \"ann\"\nvalue = { value = \"key-of-ann\" }\n";
    let mut gateway = Running::start(&(keys.to_owned() + &folder.toml("metadata")));
    let head = format!("POST {CHAT}\r\nx-api-key: key-of-ann\r\n");
    let id = exchange_of(&gateway.request(&head, &chat("sim", false)));
    gateway.stop();
    let (rows, _) = folder.read(&Owner::key("ann").unwrap(), &[id]);
    assert_eq!(rows.len(), 1);
    assert!(folder.read(&Owner::nobody(), &[]).1.is_empty());
}

#[test]
fn with_metadata_the_files_hold_no_content_and_no_key() {
    let folder = Folder::new();
    let provider = Provider::whole(&chat_answer("answered-in-confidence"));
    let keys = "[auth]\nrequired = true\n[[auth.key]]\nname = \"ann\"\nvalue = { value = \"key-of-ann\" }\n";
    let toml = [keys.to_owned(), provider.toml("p", "openai-chat"), folder.toml("metadata")];
    let mut gateway = Running::start(&toml.concat());
    let asked = |text: String| text.replace("hello", "asked-in-confidence");
    for (path, body) in [
        (CHAT, chat("p/named-model", false)),
        ("/v1/messages", messages("p/named-model", false)),
        ("/v1/messages", messages("sim", true)),
        ("/v1/messages", messages("sim-chat/fault-500", false)),
    ] {
        let head = format!("POST {path}\r\nx-api-key: key-of-ann\r\n");
        gateway.request(&head, &asked(body));
    }
    // While it runs the rows are in the log beside the database.
    wait_for(|| folder.holds("named-model").ok_or_else(|| "no row is ever written".to_owned()));
    gateway.stop();
    for word in ["in-confidence", "key-of-ann", "sk-upstream"] {
        assert_eq!(folder.holds(word), None, "{word}");
    }
}

#[test]
fn another_store_needs_a_restart_and_the_old_one_is_kept() {
    let folder = Folder::new();
    let file = ConfigFile::new(&folder.toml("metadata"));
    let gateway = Running::start_from(&file);
    file.write(&format!("repair = \"off\"\n{}", folder.toml("full")));
    let reply = gateway.post("/sabir/v1/reload", "");
    assert_eq!(reply.body, r#"{"changed":["repair"],"needs_restart":["[store]"]}"#);
    gateway.wait_for_metric("sabir_store_up 1");
}

#[test]
fn with_off_there_is_no_store() {
    let folder = Folder::new();
    let gateway = Running::start(&folder.toml("off"));
    assert_eq!(gateway.post(CHAT, &chat("sim", false)).status, 200);
    assert!(folder.files().is_empty());
    assert!(!gateway.get("/metrics").body.contains("sabir_store"));
    assert_eq!(gateway.get("/readyz").body, "ready\n");
}

#[test]
fn calls_are_served_while_the_store_fails_and_that_can_be_seen() {
    let folder = Folder::new();
    let gateway = Running::start(&folder.toml("metadata"));
    assert_eq!(gateway.get("/readyz").body, "ready\n");
    gateway.wait_for_metric("sabir_store_up 1");
    // A commit that was under way may write a page again: the damage is done until it is noticed.
    wait_for(|| {
        damage(&folder);
        assert_eq!(gateway.post(CHAT, &chat("sim", false)).status, 200);
        let metrics = gateway.get("/metrics").body;
        metrics.contains("sabir_store_up 0\n").then_some(()).ok_or(metrics)
    });
    assert_eq!(gateway.post(CHAT, &chat("sim", false)).status, 200);
    let ready = gateway.get("/readyz");
    assert_eq!((ready.status, ready.body.as_str()), (200, "ready, but the store fails\n"));
}

/// Overwrites all files with as many bytes: one that another process maps must not become shorter.
fn damage(folder: &Folder) {
    for (path, bytes) in folder.files() {
        let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
        std::io::Write::write_all(&mut file, &vec![b'Z'; bytes.len()]).unwrap();
    }
}

const ADMIN: &str = "[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"key-0-123456\" }\n\
                     [[auth.key]]\nname = \"boss\"\nadmin = true\nvalue = { value = \"key-1-123456\" }\n";

#[test]
fn usage_is_summed_up_for_whoever_may_see_it() {
    let folder = Folder::new();
    let provider = Provider::whole(&chat_answer("hi"));
    let toml = [provider.toml("p", "openai-chat"), folder.toml("metadata"), ADMIN.to_owned()];
    let mut gateway = Running::start(&toml.concat());
    let ask = |gateway: &Running, key: &str, model: &str| {
        let head = format!("POST {CHAT}\r\nauthorization: Bearer {key}\r\n");
        gateway.request(&head, &chat(model, false)).status
    };
    assert_eq!(ask(&gateway, "key-0-123456", "p/small"), 200);
    assert_eq!(ask(&gateway, "key-0-123456", "nobody-has-it"), 404);
    assert_eq!(ask(&gateway, "key-1-123456", "p/large"), 200);
    // Whoever looks for what is not kept asks no model.
    let head = "GET /sabir/v1/conversations/no\r\nauthorization: Bearer key-0-123456\r\n";
    assert_ne!(gateway.request(head, "").status, 200);
    // The rows of a gateway that has ended are all written.
    gateway.stop();
    let gateway = Running::start(&toml.concat());
    let usage = |key: &str, query: &str| {
        let head = format!("GET /sabir/v1/usage?{query}\r\nauthorization: Bearer {key}\r\n");
        gateway.request(&head, "").json()
    };
    let sums = |name: &str, value: Value, calls: u64, errors: u64| {
        let answered = calls - errors;
        serde_json::json!({name: value, "calls": calls, "errors": errors, "input_tokens": 3 * answered,
            "output_tokens": 2 * answered, "cache_read_tokens": 0, "cache_write_tokens": 0, "reasoning_tokens": 0})
    };
    let own = usage("key-0-123456", "");
    assert_eq!(
        (&own["by"], own["data"].as_array().unwrap().len()),
        (&serde_json::json!("model"), 2)
    );
    assert!(
        own["data"].as_array().unwrap().contains(&sums("model", serde_json::json!("small"), 1, 0)),
        "{own}"
    );
    assert!(own["data"].as_array().unwrap().contains(&sums("model", Value::Null, 1, 1)), "{own}");
    assert_eq!(own["total"]["calls"], 2);
    let keys = usage("key-1-123456", "by=key&since=2d");
    assert_eq!(
        keys["data"],
        serde_json::json!([
            sums("key", serde_json::json!("a"), 2, 1),
            sums("key", serde_json::json!("boss"), 1, 0)
        ])
    );
    let days = usage("key-1-123456", "by=day&since=1h");
    let day = days["data"][0]["day"].as_str().unwrap();
    assert!(day.starts_with("20") && day.len() == 10, "{days}");
    assert_eq!(usage("key-0-123456", "by=provider")["data"][0]["provider"], "p");
    for query in ["by=colour", "since=ever"] {
        let reply = usage("key-0-123456", query);
        assert!(reply["error"]["message"].as_str().unwrap().starts_with("Invalid '"), "{reply}");
    }
}

#[test]
fn where_nothing_is_kept_there_is_no_usage() {
    let gateway = Running::start("[store]\nrecord = \"off\"\n");
    let reply = gateway.get("/sabir/v1/usage");
    assert_eq!(reply.status, 400);
    assert!(reply.body.contains("keeps nothing of its calls"), "{}", reply.body);
}
