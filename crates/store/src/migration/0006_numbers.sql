-- Messages and settings by number within the database: a hash stands once in its row and once in an index, and what points to it
-- takes some bytes. `{number}` is how the engine counts rows. From here on records may be packed.

DROP INDEX message_parent;
DROP INDEX turn_base;
DROP INDEX turn_tip;
DROP INDEX turn_system;
DROP INDEX turn_tools;
DROP INDEX turn_open;
DROP INDEX turn_idle;
DROP INDEX conversation_newest;
DROP INDEX conversation_used;
DROP INDEX conversation_tip;
DROP INDEX conversation_system;
DROP INDEX conversation_tools;
DROP INDEX conversation_followed;
ALTER TABLE message RENAME TO old_message;
ALTER TABLE setting RENAME TO old_setting;
ALTER TABLE turn RENAME TO old_turn;
ALTER TABLE conversation RENAME TO old_conversation;
ALTER TABLE orphan RENAME TO old_orphan;

CREATE TABLE message (
    number {number},
    owner TEXT NOT NULL,
    hash {bytes} NOT NULL,
    parent BIGINT REFERENCES message (number),
    depth BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    record {bytes} NOT NULL
);
CREATE UNIQUE INDEX message_hash ON message (owner, hash);
CREATE INDEX message_parent ON message (parent) WHERE parent IS NOT NULL;
INSERT INTO message (owner, hash, depth, created_at, record)
    SELECT owner, hash, depth, created_at, record FROM old_message ORDER BY depth, created_at;
UPDATE message SET parent = (SELECT before.number
    FROM old_message old JOIN message before ON before.owner = old.owner AND before.hash = old.parent
    WHERE old.owner = message.owner AND old.hash = message.hash);

CREATE TABLE setting (
    number {number},
    owner TEXT NOT NULL,
    hash {bytes} NOT NULL,
    record {bytes} NOT NULL
);
CREATE UNIQUE INDEX setting_hash ON setting (owner, hash);
INSERT INTO setting (owner, hash, record) SELECT owner, hash, record FROM old_setting;

-- `refs` counts the turns that continue this one and the conversations that end on it. `node` is empty once it is closed.
CREATE TABLE turn (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    previous TEXT,
    base BIGINT REFERENCES message (number),
    tip BIGINT REFERENCES message (number),
    status TEXT NOT NULL,
    node TEXT NOT NULL,
    protocol TEXT NOT NULL,
    provider TEXT,
    model TEXT,
    exchange TEXT,
    system BIGINT REFERENCES setting (number),
    tools BIGINT REFERENCES setting (number),
    opened_at BIGINT NOT NULL,
    closed_at BIGINT,
    used_at BIGINT NOT NULL,
    refs BIGINT NOT NULL,
    details {bytes} NOT NULL,
    PRIMARY KEY (owner, id)
);
INSERT INTO turn (owner, id, previous, base, tip, status, node, protocol, provider, model, exchange,
        system, tools, opened_at, closed_at, used_at, refs, details)
    SELECT old.owner, id, previous, base.number, tip.number, status,
        CASE WHEN closed_at IS NULL THEN node ELSE '' END, protocol, provider, model, exchange,
        told.number, tools.number, opened_at, closed_at, used_at, refs, details
    FROM old_turn old
    LEFT JOIN message base ON base.owner = old.owner AND base.hash = old.base
    LEFT JOIN message tip ON tip.owner = old.owner AND tip.hash = old.tip
    LEFT JOIN setting told ON told.owner = old.owner AND told.hash = old.system
    LEFT JOIN setting tools ON tools.owner = old.owner AND tools.hash = old.tools
    ORDER BY opened_at;
CREATE INDEX turn_base ON turn (base) WHERE base IS NOT NULL;
CREATE INDEX turn_tip ON turn (tip) WHERE tip IS NOT NULL;
CREATE INDEX turn_system ON turn (system) WHERE system IS NOT NULL;
CREATE INDEX turn_tools ON turn (tools) WHERE tools IS NOT NULL;
CREATE INDEX turn_open ON turn (node) WHERE closed_at IS NULL;
CREATE INDEX turn_idle ON turn (used_at) WHERE refs = 0 AND closed_at IS NOT NULL;

CREATE TABLE conversation (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    tip BIGINT REFERENCES message (number),
    last_turn TEXT,
    system BIGINT REFERENCES setting (number),
    tools BIGINT REFERENCES setting (number),
    title TEXT NOT NULL,
    search TEXT NOT NULL,
    metadata {bytes} NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    turns BIGINT NOT NULL,
    protocols TEXT NOT NULL,
    models TEXT NOT NULL,
    followed BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, id)
);
INSERT INTO conversation (owner, id, tip, last_turn, system, tools, title, search, metadata,
        created_at, updated_at, used_at, turns, protocols, models, followed)
    SELECT old.owner, id, tip.number, last_turn, told.number, tools.number, title, search,
        metadata, old.created_at, updated_at, used_at, turns, protocols, models, followed
    FROM old_conversation old
    LEFT JOIN message tip ON tip.owner = old.owner AND tip.hash = old.tip
    LEFT JOIN setting told ON told.owner = old.owner AND told.hash = old.system
    LEFT JOIN setting tools ON tools.owner = old.owner AND tools.hash = old.tools;
CREATE INDEX conversation_newest ON conversation (owner, updated_at, id, search);
CREATE INDEX conversation_used ON conversation (used_at);
CREATE INDEX conversation_tip ON conversation (tip) WHERE tip IS NOT NULL;
CREATE INDEX conversation_system ON conversation (system) WHERE system IS NOT NULL;
CREATE INDEX conversation_tools ON conversation (tools) WHERE tools IS NOT NULL;
CREATE INDEX conversation_followed ON conversation (tip, updated_at)
    WHERE followed = 1 AND tip IS NOT NULL;

-- Messages and settings that may have lost their last user: the retention looks whether they have.
CREATE TABLE orphan (
    kind TEXT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (kind, number)
) {narrow};
INSERT INTO orphan (kind, number)
    SELECT kind, message.number FROM old_orphan old
    JOIN message ON message.owner = old.owner AND message.hash = old.hash WHERE kind = 'message';
INSERT INTO orphan (kind, number)
    SELECT kind, setting.number FROM old_orphan old
    JOIN setting ON setting.owner = old.owner AND setting.hash = old.hash WHERE kind = 'setting';

DROP TABLE old_orphan;
DROP TABLE old_conversation;
DROP TABLE old_turn;
DROP TABLE old_setting;
DROP TABLE old_message;

-- Calls are found by their ids, and deleted by their age.
DROP INDEX exchange_newest;

-- The last try of a call ends as the call does: its row is the call's, and `attempt` has those before it.
ALTER TABLE exchange ADD COLUMN last_milliseconds BIGINT;
