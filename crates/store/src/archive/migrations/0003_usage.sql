-- What messages used, added up, so that nobody has to read every message to know what a month cost.

-- Of what was written to the cache, what is to stay there for an hour.
alter table usage add column cache_write_1h integer not null default 0;

-- A fork copies messages into the file of another session, under their ids: only one of the rows counts.
alter table usage add column counted integer not null default 0;

-- Quarters of an hour: every day of every time zone begins with one.
alter table usage add column quarter integer generated always as (at / 900000) virtual;

-- How many of the bounds the prompt exceeds from which on some models cost more (`core::usage::BANDS`).
alter table usage add column band integer generated always as (
    (input + cache_read + cache_write > 128000) + (input + cache_read + cache_write > 200000)
    + (input + cache_read + cache_write > 256000) + (input + cache_read + cache_write > 272000)) virtual;

create index usage_by_message on usage (message);

create table usage_sums (
    quarter integer not null,
    conversation integer not null references conversations (id),
    -- Empty where it is not known.
    model text not null,
    band integer not null,
    messages integer not null,
    input integer not null,
    cache_read integer not null,
    cache_write integer not null,
    cache_write_1h integer not null,
    output integer not null,
    primary key (quarter, conversation, model, band)
) strict, without rowid;
create index usage_sums_by_conversation on usage_sums (conversation);

-- The sums follow the rows, whoever changes them.
create trigger usage_is_counted after update of counted, at, model, input, cache_read, cache_write, cache_write_1h, output
    on usage when new.counted = 1 begin
    insert into usage_sums
        (quarter, conversation, model, band, messages, input, cache_read, cache_write, cache_write_1h, output)
    values (new.quarter, new.conversation, ifnull(new.model, ''), new.band, 1, new.input, new.cache_read,
        new.cache_write, new.cache_write_1h, new.output)
    on conflict (quarter, conversation, model, band) do update set messages = messages + 1,
        input = input + excluded.input, cache_read = cache_read + excluded.cache_read,
        cache_write = cache_write + excluded.cache_write, cache_write_1h = cache_write_1h + excluded.cache_write_1h,
        output = output + excluded.output;
end;

create trigger usage_was_counted after update of counted, at, model, input, cache_read, cache_write, cache_write_1h, output
    on usage when old.counted = 1 begin
    update usage_sums set messages = messages - 1, input = input - old.input, cache_read = cache_read - old.cache_read,
        cache_write = cache_write - old.cache_write, cache_write_1h = cache_write_1h - old.cache_write_1h,
        output = output - old.output
    where quarter = old.quarter and conversation = old.conversation and model = ifnull(old.model, '')
        and band = old.band;
    delete from usage_sums where quarter = old.quarter and conversation = old.conversation
        and model = ifnull(old.model, '') and band = old.band and messages = 0;
end;

-- A copy is known by the time of the message or by all that it used: ids alone are not to be relied on with every server.
create trigger usage_added after insert on usage begin
    update usage set counted = not exists (
        select 1 from usage other where other.message = new.message and other.conversation <> new.conversation
            and other.counted = 1 and (other.at = new.at or (other.input, other.cache_read, other.cache_write, other.output)
                = (new.input, new.cache_read, new.cache_write, new.output)))
    where conversation = new.conversation and message = new.message;
end;

-- Where the row goes that counted, one of its copies counts.
create trigger usage_dropped after delete on usage when old.counted = 1 begin
    update usage_sums set messages = messages - 1, input = input - old.input, cache_read = cache_read - old.cache_read,
        cache_write = cache_write - old.cache_write, cache_write_1h = cache_write_1h - old.cache_write_1h,
        output = output - old.output
    where quarter = old.quarter and conversation = old.conversation and model = ifnull(old.model, '')
        and band = old.band;
    delete from usage_sums where quarter = old.quarter and conversation = old.conversation
        and model = ifnull(old.model, '') and band = old.band and messages = 0;
    update usage set counted = 1 where message = old.message and counted = 0
        and conversation = (select min(conversation) from usage where message = old.message and counted = 0)
        and not exists (select 1 from usage other where other.message = old.message and other.counted = 1);
end;

-- What was captured before there were sums.
update usage set counted = 1 where not exists (
    select 1 from usage other where other.message = usage.message and other.conversation < usage.conversation
        and (other.at = usage.at or (other.input, other.cache_read, other.cache_write, other.output)
            = (usage.input, usage.cache_read, usage.cache_write, usage.output)));
