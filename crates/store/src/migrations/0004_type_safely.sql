-- What is typed in a person's place, points to come back to, how full contexts are, and what goes on by itself.

-- Something that is meant to be typed into a seat, and what became of it. `typed_into` is the session it was typed into,
-- `led_to` the one whose event confirmed it.
create table intents (
    id integer primary key,
    uid blob not null unique,
    machine blob not null,
    revision integer not null,
    session integer not null references sessions (id),
    seat text not null,
    purpose text not null,
    text text not null,
    after_intent blob,
    made_at integer not null,
    expires_at integer not null,
    stage text not null,
    moved_at integer not null,
    typing_at integer,
    why text,
    typed_into integer references sessions (id),
    led_to integer references sessions (id)
) strict;
create index open_intents on intents (seat, made_at) where stage in ('waiting', 'typing', 'typed');
create index intents_by_time on intents (made_at);
create index intents_by_session on intents (session);
