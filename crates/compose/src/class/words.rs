//! What the classes know as data: names of tools and programs, and how people ask for a web search.

/// Elements in which agents put their own words into the user's turn.
pub(super) const REMINDER_TAGS: &[&str] = &[
    "system-reminder",
    "total_tokens",
    "environment_context",
    "user_instructions",
    "turn_aborted",
    "session_context",
];

/// Tools that run a command.
pub(super) const SHELLS: &[&str] = &[
    "bash",
    "shell",
    "local_shell",
    "local_shell_call",
    "shell_command",
    "exec_command",
    "execute_command",
    "run_command",
    "run_shell_command",
    "run_terminal_cmd",
    "run_in_terminal",
    "container_exec",
    "terminal",
];

/// The members of a call's arguments in which a command stands.
pub(super) const COMMAND_MEMBERS: &[&str] = &["command", "cmd", "script"];

/// Tools that view and edit by one name; `command` says which.
pub(super) const EDITORS: &[&str] =
    &["str_replace_editor", "str_replace_based_edit_tool", "text_editor"];

pub(super) const VIEWING: &[&str] = &["view", "read", "open"];

/// What agents note for themselves: no file is written by it.
pub(super) const NOTES: &[&str] = &["todo", "todos"];

pub(super) const WRITERS: &[&str] = &[
    "apply_patch",
    "edit",
    "multi_edit",
    "write",
    "create_file",
    "delete_file",
    "move_file",
    "rename_file",
    "insert",
    "replace",
    "str_replace",
    "search_replace",
    "save",
    "patch",
];

pub(super) const SEARCHERS: &[&str] = &["grep", "glob", "find", "search", "ripgrep", "rg"];

pub(super) const READERS: &[&str] =
    &["read", "view", "open", "cat", "list_dir", "list_directory", "list_files", "ls", "fetch"];

pub(super) const WRITING_PROGRAMS: &[&str] = &[
    "rm",
    "mv",
    "cp",
    "mkdir",
    "rmdir",
    "touch",
    "tee",
    "dd",
    "ln",
    "chmod",
    "chown",
    "truncate",
    "patch",
    "apply_patch",
    "install",
    "rsync",
    "unzip",
    "applypatch",
];

pub(super) const SEARCHING_PROGRAMS: &[&str] =
    &["grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "fdfind", "locate"];

pub(super) const READING_PROGRAMS: &[&str] = &[
    "cat", "head", "tail", "less", "more", "nl", "ls", "tree", "wc", "stat", "file", "awk", "jq",
    "diff", "cmp", "xxd", "hexdump", "strings", "du", "df", "pwd", "readlink", "realpath", "bat",
    "cut", "sort", "uniq",
];

/// What git does without changing anything.
pub(super) const GIT_READERS: &[&str] = &[
    "diff",
    "log",
    "show",
    "status",
    "blame",
    "ls-files",
    "ls-tree",
    "cat-file",
    "rev-parse",
    "shortlog",
    "describe",
    "reflog",
    "whatchanged",
    "rev-list",
];

/// Verbs that ask for a search where a place on the web follows.
pub(super) const VERBS: &[&str] = &[
    "search",
    "searching",
    "look",
    "looking",
    "browse",
    "browsing",
    "find",
    "check",
    "query",
    "research",
    "scan",
    "crawl",
    "surf",
    "consult",
];

pub(super) const PLACES: &[&str] = &["web", "internet", "online", "www"];

/// What may follow a place; anything else makes a compound of it, as in "web server".
pub(super) const BEHIND_PLACES: &[&str] = &[
    "for", "and", "to", "about", "on", "if", "first", "now", "please", "then", "before", "when",
    "what", "who", "how", "where", "why", "which", "whether", "or", "but", "again", "today",
    "with", "as", "in", "until", "so", "by", "using", "right", "at",
];

/// Words that make "a web search" something to do.
pub(super) const DOING: &[&str] =
    &["do", "run", "perform", "make", "try", "use", "conduct", "start", "doing", "using"];

/// What the web is used for where it is searched: "use the web to verify it".
pub(super) const FINDING: &[&str] =
    &["verify", "check", "confirm", "find", "look", "answer", "research", "see", "get"];

/// Who follows `do` where it asks: "how do I", "do you".
pub(super) const ASKED: &[&str] = &["i", "you", "we", "they", "people"];

/// Search engines whose name is a verb.
pub(super) const ENGINES: &[&str] = &["google", "bing", "duckduckgo"];

/// Places and engines, each with where the three letters begin that it is found by: those that are seldom side by side in other words.
pub(super) const WEB_MARKS: &[(&str, usize)] = &[
    ("web", 0),
    ("internet", 4),
    ("online", 1),
    ("www", 0),
    ("google", 1),
    ("bing", 0),
    ("duckduckgo", 7),
];

/// What follows the name of an engine that is used as a verb.
pub(super) const BEHIND_ENGINES: &[&str] = &[
    "the", "for", "it", "this", "that", "what", "who", "how", "when", "where", "why", "a", "an",
    "them", "my", "some", "these", "those", "whats", "what's", "who's", "if", "whether",
];

/// Words that forbid what follows in their clause, whatever its form. `no` and `not` depend on what stands beside them.
pub(super) const NEGATIONS: &[&str] = &[
    "don't",
    "dont",
    "not",
    "never",
    "no",
    "nobody",
    "neither",
    "nor",
    "cannot",
    "can't",
    "shouldn't",
    "mustn't",
    "needn't",
    "won't",
];

/// Words that take out what is linked to them, as `searching` and `to search` are.
pub(super) const LINKED_NEGATIONS: &[&str] = &[
    "without", "avoid", "stop", "refrain", "no", "doesn't", "didn't", "isn't", "aren't", "wasn't",
    "weren't", "hasn't", "haven't", "failed", "fails", "refused", "refuses",
];

/// The same of two words.
pub(super) const NEGATING_PAIRS: &[(&str, &str)] = &[("instead", "of"), ("rather", "than")];

/// What `no` stands before where it forbids what follows.
pub(super) const FORBIDDING_NOUNS: &[&str] = &[
    "circumstances",
    "circumstance",
    "account",
    "condition",
    "conditions",
    "way",
    "case",
    "event",
];

/// Words before `not` that make a statement of it.
pub(super) const STATING: &[&str] = &[
    "does", "did", "is", "are", "was", "were", "am", "has", "have", "had", "i'm", "it's", "that's",
    "there's", "you're",
];

/// Words that begin something new within a clause.
pub(super) const TURNS: &[&str] =
    &["but", "then", "therefore", "otherwise", "please", "until", "unless", "before"];

/// Who may begin something new behind `and` and `so`.
pub(super) const SUBJECTS: &[&str] = &["i", "you", "we", "please", "just", "let's"];

/// What is said of others who search: theirs is no wish.
pub(super) const DESCRIBING: &[&str] = &["tells", "instructs", "lets", "allows", "asks", "says"];

/// The same of what was said before, but for what was said to the one who is spoken to: "I told you to search the web".
pub(super) const DESCRIBED: &[&str] = &["told", "asked", "instructed"];

/// Others, of whom it is told that they search.
pub(super) const OTHERS: &[&str] =
    &["they", "users", "people", "customers", "clients", "visitors", "students", "who"];

/// What stands before words that are only quoted.
pub(super) const NAMING: &[&str] =
    &["say", "says", "saying", "reads", "called", "labelled", "labeled", "named", "titled"];

/// What follows `how` in a question how something is done.
pub(super) const ASKING_HOW: &[&str] =
    &["to", "do", "does", "did", "can", "could", "would", "should"];

/// What follows a negation that is none of the wish: "don't hesitate to", "not sure".
pub(super) const BEHIND_OTHER_NEGATIONS: &[&str] = &[
    "hesitate",
    "forget",
    "fail",
    "only",
    "just",
    "sure",
    "certain",
    "know",
    "remember",
    "recall",
    "understand",
    "idea",
    "matter",
    "doubt",
    "stress",
    "emphasise",
    "emphasize",
];

/// Negations that ask where `you` follows: "can't you search the web".
pub(super) const ASKING_NEGATIONS: &[&str] = &["can't", "cannot"];
