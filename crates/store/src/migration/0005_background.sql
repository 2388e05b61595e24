-- Answers that are worked on while nobody waits. `body` is the answer as it stands. An open one belongs to its node, like
-- an open turn. `provider` works on it by itself, where one does.
CREATE TABLE job (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    turn TEXT NOT NULL,
    node TEXT NOT NULL,
    provider TEXT,
    status TEXT NOT NULL,
    streamed BIGINT NOT NULL,
    opened_at BIGINT NOT NULL,
    closed_at BIGINT,
    events_until BIGINT,
    body {bytes} NOT NULL,
    PRIMARY KEY (owner, id)
);
CREATE INDEX job_open ON job (node) WHERE closed_at IS NULL;
CREATE INDEX job_closed ON job (closed_at) WHERE closed_at IS NOT NULL;
CREATE INDEX job_events ON job (events_until) WHERE events_until IS NOT NULL;

-- What was said of a streamed one, in pieces: each from an event's number to another's.
CREATE TABLE job_event (
    owner TEXT NOT NULL,
    job TEXT NOT NULL,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    record {bytes} NOT NULL,
    PRIMARY KEY (owner, job, first)
);
