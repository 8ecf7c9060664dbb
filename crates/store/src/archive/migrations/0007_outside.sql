-- The trust of the least trusted text from outside that came into the session in this turn; empty if none did, null if
-- nobody has looked yet.
alter table turns add column outside text;
