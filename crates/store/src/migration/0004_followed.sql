-- Conversations that nobody asked for are known again by what was said in them: the newest with a tip is found at once.

ALTER TABLE conversation ADD COLUMN followed BIGINT NOT NULL DEFAULT 0;
CREATE INDEX conversation_followed ON conversation (owner, tip, updated_at)
    WHERE followed = 1 AND tip IS NOT NULL;
