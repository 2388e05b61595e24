-- A row may stand for several items that are named one after the other: as many as `items`. `message` then holds the message and
-- the part of each.
ALTER TABLE item ADD COLUMN items BIGINT NOT NULL DEFAULT 1;
