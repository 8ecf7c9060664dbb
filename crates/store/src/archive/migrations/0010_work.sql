-- The files of a session: the state of its work is in the state of their readers.
create index sources_by_conversation on sources (conversation);
