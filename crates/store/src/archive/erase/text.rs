//! Erases every row that contains a text: searches all texts, compressed ones included.
//!
//! A matching piece is deleted whole; its turn stays. The searched text is never stored.

use super::{ArchiveEraser, notes};
use crate::Result;
use crate::query::Query;
use std::collections::BTreeSet;
use towline_core::id::IdHash;
use towline_core::share::RowKind;

const BODIES: &str = "select id, conversation, mark from bodies where holds(text)";
const DETAILS: &str = "
    select id, conversation, mark from details where holds(unpacked(packed, content)) or holds(tool)";

const LINES: &str = "
    update turns set line = '', revision = revision + 1 where holds(line) returning conversation";
const FILES: &str = "delete from files where holds(path) returning conversation";
const COMMITS: &str = "delete from commits where holds(subject) returning conversation";
const USAGE: &str = "delete from usage where holds(model) returning conversation";

/// Folder, branch and project names may contain the text too.
const FOLDERS: &str = "
    update conversations set folder = null, branch = null, project = null, revision = revision + 1
    where holds(folder) or holds(branch) or project in
        (select id from projects where holds(root) or holds(remote) or holds(name))
    returning id";
const MEMORIES: &str = "
    select id from memories where holds(title) or holds(subtitle) or holds(facts) or holds(narrative) or holds(concepts)
        or holds(branch) or holds(superseded_why) or holds(quarantine) or holds(type)
        or exists (select 1 from memory_files f where f.memory = memories.id and holds(f.path))
        or exists (select 1 from memory_trace t where t.memory = memories.id and (holds(t.before) or holds(t.why)))";
const WITH_SUMMARIES: &str = "
    select conversation from summaries where holds(request) or holds(investigated) or holds(learned) or holds(completed)
        or holds(next_steps) or holds(notes)";
const SUMMARIES: &str = "
    delete from summaries where holds(request) or holds(investigated) or holds(learned) or holds(completed)
        or holds(next_steps) or holds(notes) returning conversation";
const OWN_PROPOSALS: &str = "
    update proposals set fate = 'withdrawn', change = '', told = 0 where person is null and holds(change)";
const BURY_PROPOSALS: &str = "
    insert into tombs (uid, kind, project, person, machine, session, turn, made_at, at, by, fate, told)
    select p.uid, 'proposal', s.id, p.person, p.machine, null, null, p.made_at, ?1, ?2, 'away', 1
    from proposals p join shared_projects s on s.project = p.project
    where p.person is not null and holds(p.change) on conflict (uid) do nothing";
const PROPOSALS: &str = "delete from proposals where person is not null and holds(change)";
const JOBS: &str = "update jobs set error = null where holds(error)";
const SOURCES: &str = "delete from sources where holds(path) or holds(state)";

impl ArchiveEraser<'_> {
    pub(super) fn erase_text(&mut self) -> Result<()> {
        let mut touched = BTreeSet::new();
        self.erased.bodies += self.erase_pieces(RowKind::Body, BODIES, &mut touched)?;
        self.erased.details += self.erase_pieces(RowKind::Detail, DETAILS, &mut touched)?;
        for statement in [LINES, FILES, COMMITS, USAGE] {
            let changed = self.archive.db.all::<i64>(statement, [])?;
            self.erased.others += changed.len();
            touched.extend(changed);
        }
        for memory in self.archive.db.all(MEMORIES, [])? {
            self.erase_memory(memory)?;
        }
        for conversation in self.archive.db.all(WITH_SUMMARIES, [])? {
            self.archive.add_summary_tombstone(conversation, self.burial.at)?;
        }
        let summaries = self.archive.db.all::<i64>(SUMMARIES, [])?;
        self.erased.memories += summaries.len();
        self.erase_notes(notes::WITH_WORDS, &[])?;
        self.erase_proposals()?;
        self.archive.db.change(JOBS, [])?;
        for conversation in self.archive.db.all(FOLDERS, [])? {
            let session = self.archive.conversation_by_row(conversation)?.session;
            self.forgotten.add_place(&session);
            self.erased.others += 1;
            touched.insert(conversation);
        }
        self.archive.db.change(SOURCES, [])?;
        for conversation in touched {
            self.archive.add_foreign_line_tombstones(conversation, self.burial)?;
            self.finish_conversation(conversation)?;
        }
        Ok(())
    }

    /// Proposals of teammates do not come back; this user's own leave the hub.
    fn erase_proposals(&mut self) -> Result<()> {
        let db = &self.archive.db;
        self.erased.others += db.change(OWN_PROPOSALS, [])?;
        db.change(BURY_PROPOSALS, (self.burial.at.0, self.burial.by))?;
        self.erased.others += db.change(PROPOSALS, [])?;
        Ok(())
    }

    /// Records and deletes the pieces that a query finds.
    fn erase_pieces(&mut self, kind: RowKind, matching: &str, touched: &mut BTreeSet<i64>) -> Result<usize> {
        let found: Vec<(i64, i64, IdHash)> = self.archive.db.all(matching, [])?;
        for (id, conversation, mark) in &found {
            let session = self.archive.conversation_by_row(*conversation)?.session;
            self.forgotten.add_piece(&session, *mark);
            self.archive.add_piece_tombstones(*conversation, kind, "id = ?1", [id], self.burial)?;
            self.archive.delete_piece(kind, *id)?;
            touched.insert(*conversation);
        }
        Ok(found.len())
    }
}
