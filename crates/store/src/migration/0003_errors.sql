-- How many calls failed, of a call itself and of a day. What was recorded before is counted as answered.
ALTER TABLE exchange ADD COLUMN failed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_day ADD COLUMN errors BIGINT NOT NULL DEFAULT 0;
