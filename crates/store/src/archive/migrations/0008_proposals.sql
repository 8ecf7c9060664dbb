-- When an agent proposed to pin the memory; null while there is no proposal.
alter table memories add column proposed_at integer;
create index memories_proposed on memories (project) where proposed_at is not null;
-- Agents' notes by session: text from outside that reaches the session lowers their trust.
create index memories_noted on memories (session) where maker = 'agent';
