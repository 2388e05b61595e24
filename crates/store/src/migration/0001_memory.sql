-- The memory. `{bytes}` is the engine's type for bytes, `{narrow}` how it keeps small rows beside their key.
-- Every key begins with the owner: what one owner made, another cannot name.

CREATE TABLE node (
    id TEXT NOT NULL PRIMARY KEY,
    alive_until BIGINT NOT NULL
);
CREATE INDEX node_alive ON node (alive_until);

-- Never changed. A history is the path from a message to its root.
CREATE TABLE message (
    owner TEXT NOT NULL,
    hash {bytes} NOT NULL,
    parent {bytes},
    depth BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    record {bytes} NOT NULL,
    PRIMARY KEY (owner, hash),
    FOREIGN KEY (owner, parent) REFERENCES message (owner, hash)
);
CREATE INDEX message_parent ON message (owner, parent) WHERE parent IS NOT NULL;

-- System prompts and tools, by the hash of their bytes: the same tools of a thousand turns are kept once.
CREATE TABLE setting (
    owner TEXT NOT NULL,
    hash {bytes} NOT NULL,
    record {bytes} NOT NULL,
    PRIMARY KEY (owner, hash)
);

-- `refs` counts the turns that continue this one and the conversations that end on it.
CREATE TABLE turn (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    previous TEXT,
    base {bytes},
    tip {bytes},
    status TEXT NOT NULL,
    node TEXT NOT NULL,
    protocol TEXT NOT NULL,
    provider TEXT,
    model TEXT,
    exchange TEXT,
    system {bytes},
    tools {bytes},
    opened_at BIGINT NOT NULL,
    closed_at BIGINT,
    used_at BIGINT NOT NULL,
    refs BIGINT NOT NULL,
    details {bytes} NOT NULL,
    PRIMARY KEY (owner, id),
    FOREIGN KEY (owner, base) REFERENCES message (owner, hash),
    FOREIGN KEY (owner, tip) REFERENCES message (owner, hash),
    FOREIGN KEY (owner, system) REFERENCES setting (owner, hash),
    FOREIGN KEY (owner, tools) REFERENCES setting (owner, hash)
);
CREATE INDEX turn_base ON turn (owner, base) WHERE base IS NOT NULL;
CREATE INDEX turn_tip ON turn (owner, tip) WHERE tip IS NOT NULL;
CREATE INDEX turn_system ON turn (owner, system) WHERE system IS NOT NULL;
CREATE INDEX turn_tools ON turn (owner, tools) WHERE tools IS NOT NULL;
CREATE INDEX turn_open ON turn (node) WHERE closed_at IS NULL;
CREATE INDEX turn_idle ON turn (used_at) WHERE refs = 0;

CREATE TABLE response (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    turn TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    body {bytes} NOT NULL,
    PRIMARY KEY (owner, id)
);
CREATE INDEX response_turn ON response (owner, turn);

-- Not narrow: SQLite would rather walk an owner's rows in such a table than use its second index.
CREATE TABLE item (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    turn TEXT NOT NULL,
    direction BIGINT NOT NULL,
    position BIGINT NOT NULL,
    message {bytes} NOT NULL,
    part BIGINT NOT NULL,
    PRIMARY KEY (owner, id, turn)
);
CREATE INDEX item_turn ON item (owner, turn, direction, position);

-- `search` is what a list is searched in; it stands in the index so that a search reads nothing else.
CREATE TABLE conversation (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    tip {bytes},
    last_turn TEXT,
    system {bytes},
    tools {bytes},
    title TEXT NOT NULL,
    search TEXT NOT NULL,
    metadata {bytes} NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    turns BIGINT NOT NULL,
    protocols TEXT NOT NULL,
    models TEXT NOT NULL,
    PRIMARY KEY (owner, id),
    FOREIGN KEY (owner, tip) REFERENCES message (owner, hash),
    FOREIGN KEY (owner, system) REFERENCES setting (owner, hash),
    FOREIGN KEY (owner, tools) REFERENCES setting (owner, hash)
);
CREATE INDEX conversation_newest ON conversation (owner, updated_at, id, search);
CREATE INDEX conversation_used ON conversation (used_at);
CREATE INDEX conversation_tip ON conversation (owner, tip) WHERE tip IS NOT NULL;
CREATE INDEX conversation_system ON conversation (owner, system) WHERE system IS NOT NULL;
CREATE INDEX conversation_tools ON conversation (owner, tools) WHERE tools IS NOT NULL;

-- Who works on a conversation, and who continues a turn that may be continued once. Held as long as the node is alive.
CREATE TABLE hold (
    owner TEXT NOT NULL,
    purpose TEXT NOT NULL,
    id TEXT NOT NULL,
    turn TEXT NOT NULL,
    node TEXT NOT NULL,
    settled BIGINT NOT NULL,
    PRIMARY KEY (owner, purpose, id)
);
CREATE INDEX hold_turn ON hold (owner, turn);
CREATE INDEX hold_node ON hold (node);

CREATE TABLE summary (
    owner TEXT NOT NULL,
    conversation TEXT NOT NULL,
    number BIGINT NOT NULL,
    covers {bytes} NOT NULL,
    created_at BIGINT NOT NULL,
    record {bytes} NOT NULL,
    PRIMARY KEY (owner, conversation, number)
);

CREATE TABLE artefact (
    owner TEXT NOT NULL,
    issuer TEXT NOT NULL,
    call TEXT NOT NULL,
    digest {bytes} NOT NULL,
    expires_at BIGINT NOT NULL,
    record {bytes} NOT NULL,
    PRIMARY KEY (owner, issuer, call, digest)
);
CREATE INDEX artefact_expiry ON artefact (expires_at);

CREATE TABLE exchange (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    at BIGINT NOT NULL,
    turn TEXT,
    protocol TEXT NOT NULL,
    provider TEXT,
    model TEXT,
    outcome TEXT NOT NULL,
    milliseconds BIGINT NOT NULL,
    first_milliseconds BIGINT,
    input BIGINT NOT NULL,
    output BIGINT NOT NULL,
    cache_read BIGINT NOT NULL,
    cache_write BIGINT NOT NULL,
    reasoning BIGINT NOT NULL,
    losses BIGINT NOT NULL,
    PRIMARY KEY (owner, id)
) {narrow};
CREATE INDEX exchange_newest ON exchange (owner, at, id);
CREATE INDEX exchange_at ON exchange (at);

CREATE TABLE attempt (
    owner TEXT NOT NULL,
    exchange TEXT NOT NULL,
    number BIGINT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    outcome TEXT NOT NULL,
    milliseconds BIGINT NOT NULL,
    PRIMARY KEY (owner, exchange, number)
) {narrow};

CREATE TABLE usage_day (
    owner TEXT NOT NULL,
    day BIGINT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    calls BIGINT NOT NULL,
    input BIGINT NOT NULL,
    output BIGINT NOT NULL,
    cache_read BIGINT NOT NULL,
    cache_write BIGINT NOT NULL,
    reasoning BIGINT NOT NULL,
    PRIMARY KEY (owner, day, provider, model)
) {narrow};

-- Messages and settings that may have lost their last user: the retention looks whether they have.
CREATE TABLE orphan (
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    hash {bytes} NOT NULL,
    PRIMARY KEY (owner, kind, hash)
) {narrow};
