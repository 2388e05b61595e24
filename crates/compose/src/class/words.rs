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

/// Wishes to search the web, in Chinese.
pub(super) const CHINESE_WISHES: &[&str] = &[
    "联网搜",
    "联网查",
    "联网看",
    "联网检索",
    "联网找",
    "联网一下",
    "联网核实",
    "联网确认",
    "上网搜",
    "上网查",
    "上网找",
    "上网看",
    "上网检索",
    "网上搜",
    "网上查",
    "网上找",
    "网上检索",
    "网上看看",
    "互联网搜",
    "互联网查",
    "互联网检索",
    "互联网上搜",
    "互联网上查",
    "互联网上找",
    "互联网上检索",
    "网络搜索",
    "网络检索",
    "网络查询",
    "网络上搜",
    "网络上查",
    "网络上找",
    "网络上检索",
    "搜索网络",
    "搜索互联网",
    "搜索网上",
    "搜一下网上",
    "搜索一下网上",
    "搜索一下网络",
    "搜索一下互联网",
    "查询一下网上",
    "看看网上",
    "搜网上",
    "搜搜网上",
    "查一下网上",
    "查查网上",
    "检索网络",
    "检索互联网",
    "浏览网页",
    "百度一下",
    "百度搜",
    "谷歌一下",
    "谷歌搜",
    "必应搜",
    "用google搜",
    "google一下",
    "全网搜",
];

/// What all wishes in Chinese have in common that name no engine by its English name: one of these.
pub(super) const CHINESE_MARKS: &[&str] = &["网", "網", "百度", "谷歌", "必应", "必應"];

/// Places on the web that a wish may end with.
pub(super) const CHINESE_PLACES: &[&str] = &["网上", "网络", "互联网"];

/// What follows a wish that is only the name of a thing, or tells what came of a search.
pub(super) const CHINESE_THINGS: &[&str] = &[
    "过",
    "不到",
    "到的",
    "到了",
    "来的",
    "失败",
    "报错",
    "出错",
    "超时",
    "了一下",
    "了下",
    "了半天",
    "了很久",
    "了好久",
    "模块",
    "能力",
    "开关",
    "选项",
    "权限",
    "引擎",
    "框",
    "功能",
    "接口",
    "结果",
    "算法",
    "技术",
    "工具",
    "服务",
    "按钮",
    "页面",
    "组件",
    "是什么",
    "api",
    "商城",
    "商店",
    "银行",
    "支付",
    "请求",
    "日志",
    "流量",
    "连接",
    "配置",
];

pub(super) const CHINESE_NEGATIONS: &[&str] = &[
    "不要",
    "别",
    "不用",
    "无需",
    "毋需",
    "不必",
    "禁止",
    "不需要",
    "没必要",
    "没有必要",
    "不能",
    "不准",
    "不许",
    "不得",
    "不可",
    "不允许",
    "避免",
    "停止",
    "勿",
    "不想",
    "不应",
    "不应该",
    "无须",
    "不打算",
    "不希望",
    "不建议",
    "不愿",
    "不让",
    "不该",
    "不宜",
    "不支持",
    "不会",
    "不是让",
    "不是叫",
    "不是要",
    "没让",
    "没叫",
    "没有让",
    "没有叫",
];

/// Words that begin something new within a clause: what was negated before them is something else.
pub(super) const CHINESE_TURNS: &[&str] = &[
    "而是",
    "而要",
    "所以",
    "但是",
    "因此",
    "那就",
    "了直接",
    "了赶紧",
    "了赶快",
    "了马上",
    "了快",
];

/// What follows a negated wish that the rest depends on: 不上网查就别回答.
pub(super) const CHINESE_CONDITIONS: &[&str] =
    &["就别", "就不要", "就不许", "就不准", "前不要", "前别", "前不许", "前不准"];

/// What joins two things that are compared, and how that is asked for: 联网搜索和本地检索有什么区别.
pub(super) const CHINESE_JOINING: &[&str] = &["和", "与", "跟", "同"];
pub(super) const CHINESE_COMPARING: &[&str] =
    &["区别", "差别", "不同", "差异", "异同", "对比", "哪个"];

/// Questions how something is done, and what may stand between one and what is asked for.
pub(super) const CHINESE_ASKING_HOW: &[&str] = &["怎么", "怎样", "如何"];
pub(super) const CHINESE_BEHIND_HOW: &[&str] =
    &["", "在", "去", "到", "能", "才能", "可以", "才可以", "通过", "来", "让模型", "让它"];

/// Questions why somebody searches: 为什么联网搜索这么慢.
pub(super) const CHINESE_ASKING_WHY: &[&str] = &["为什么", "为何"];

/// Others, of whom it is told that they search, what they do it with, and what makes a favour of it after all: 帮用户上网查.
pub(super) const CHINESE_OTHERS: &[&str] =
    &["用户", "客户", "他们", "她们", "系统", "程序", "机器人", "学生", "模型"];
pub(super) const CHINESE_BEHIND_OTHERS: &[&str] = &["在", "能", "可以", "都", "常", "经常", "去"];
pub(super) const CHINESE_FAVOURS: &[&str] = &["帮", "替", "给", "为", "请"];

/// What tells of a wish that was spoken before: 刚才让你联网搜索.
pub(super) const CHINESE_PAST: &[&str] = &[
    "刚才让",
    "刚才叫",
    "刚才请",
    "刚刚让",
    "刚刚叫",
    "之前让",
    "之前叫",
    "之前请",
    "上次让",
    "上次叫",
];

/// Characters that are written otherwise where the words above are spoken as well, and both ways to write them.
pub(super) const TRADITIONAL: &[(char, char)] = &[
    ('網', '网'),
    ('聯', '联'),
    ('檢', '检'),
    ('詢', '询'),
    ('實', '实'),
    ('確', '确'),
    ('認', '认'),
    ('絡', '络'),
    ('瀏', '浏'),
    ('覽', '览'),
    ('頁', '页'),
    ('應', '应'),
    ('術', '术'),
    ('務', '务'),
    ('鈕', '钮'),
    ('組', '组'),
    ('銀', '银'),
    ('請', '请'),
    ('連', '连'),
    ('結', '结'),
    ('無', '无'),
    ('須', '须'),
    ('沒', '没'),
    ('準', '准'),
    ('許', '许'),
    ('該', '该'),
    ('議', '议'),
    ('願', '愿'),
    ('讓', '让'),
    ('會', '会'),
    ('個', '个'),
    ('為', '为'),
    ('爲', '为'),
    ('麼', '么'),
    ('區', '区'),
    ('級', '级'),
    ('類', '类'),
    ('識', '识'),
    ('處', '处'),
    ('馬', '马'),
    ('趕', '赶'),
    ('經', '经'),
    ('過', '过'),
    ('給', '给'),
    ('幫', '帮'),
    ('戶', '户'),
    ('們', '们'),
    ('統', '统'),
    ('機', '机'),
    ('學', '学'),
    ('樣', '样'),
    ('別', '别'),
    ('尋', '寻'),
    ('異', '异'),
    ('關', '关'),
    ('閉', '闭'),
    ('開', '开'),
    ('來', '来'),
    ('與', '与'),
    ('對', '对'),
    ('塊', '块'),
    ('權', '权'),
    ('選', '选'),
    ('項', '项'),
    ('問', '问'),
    ('剛', '刚'),
    ('後', '后'),
];

/// The same for words: what is said in Taiwan, and what is said above.
pub(super) const TRADITIONAL_WORDS: &[(&str, &str)] = &[("网路", "网络"), ("搜寻", "搜索")];

/// What stands before a name.
pub(super) const CHINESE_NAMING: &[&str] = &["叫", "叫做", "名为", "名叫", "称为"];

/// What negates a wish that follows at once. Before other words these are parts of many that negate nothing.
pub(super) const CHINESE_NEAR_NEGATIONS: &[&str] = &[
    "不",
    "不去",
    "不再",
    "不在",
    "不到",
    "不通过",
    "不使用",
    "不靠",
    "不先",
    "没",
    "没有",
    "未",
    "关闭",
    "关掉",
    "禁用",
    "停用",
];

/// What looks like a negation and is none: two of them, a question whether or not, and words that one is a part of.
pub(super) const CHINESE_OTHER_NEGATIONS: &[&str] = &[
    "不能不",
    "不得不",
    "不可不",
    "不会不",
    "不应不",
    "不应该不",
    "不要不",
    "非要",
    "不妨",
    "不如",
    "何不",
    "为什么不",
    "为何不",
    "怎么不",
    "能不能",
    "可不可以",
    "要不要",
    "会不会",
    "该不该",
    "需不需要",
    "用不用",
    "愿不愿意",
    "要不",
    "不要忘",
    "不能忘",
    "别忘",
    "勿忘",
    "不要只",
    "不能只",
    "别只",
    "不要光",
    "不能光",
    "别光",
    "是不是",
    "特别",
    "分别",
    "个别",
    "区别",
    "差别",
    "级别",
    "类别",
    "性别",
    "识别",
    "别人",
    "别的",
    "别处",
];
