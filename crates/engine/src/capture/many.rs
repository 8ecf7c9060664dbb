//! Imports many files: several threads read, one writes.
//!
//! Session files come before those of their subagents. An import may be stopped at any point and run again:
//! written data is not read twice.

use super::opened::nanoseconds;
use super::steps::{Kit, Step, Steps};
use super::{CaptureError, Transcript, Wishes, Writable, known_as, whole};
use crate::runtime::progress::Progress;
use crate::runtime::{Env, chain};
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use towline_core::forget::Forgotten;
use towline_store::StoreError;
use towline_store::archive::{TakenRows, TranscriptSource, WriteBatch};

/// Steps that may be queued per reader; each holds the rows of one block.
const WAITING: usize = 2;

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub files: usize,
    /// Files with new content.
    pub changed: usize,
    pub bytes: u64,
    pub taken: TakenRows,
    /// Files that could not be read, with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// A file to read, and its stored read state.
struct ReadJob {
    file: Transcript,
    source: TranscriptSource,
    bytes: u64,
}

enum Message {
    Step { job: usize, fresh: bool, step: Step },
    Done { job: usize, problem: Option<String> },
}

/// Imports all files with this many reader threads.
pub fn import(
    env: &Env,
    writable: &Writable,
    wishes: &Wishes,
    files: Vec<Transcript>,
    readers: NonZeroUsize,
    progress: &mut dyn Progress,
) -> Result<Imported, CaptureError> {
    let (jobs, known) = jobs(writable, wishes, files)?;
    let all_bytes = jobs.iter().map(|job| job.bytes).sum();
    let forgotten = writable.archive.forgotten();
    progress.begin(all_bytes, jobs.len());
    let writer = ImportWriter::new(env, writable, &jobs, progress);
    let imported = match readers.get() {
        1 => in_turn(&jobs, wishes, forgotten, writer)?,
        several => at_once(&jobs, wishes, forgotten, several, writer)?,
    };
    if imported.changed > 0 {
        writable.archive.seat_subagents()?;
        writable.archive.checkpoint()?;
    }
    Ok(Imported { files: imported.files + known, ..imported })
}

/// Reads and writes one file after the other in this thread, without a channel.
fn in_turn(
    jobs: &[ReadJob],
    wishes: &Wishes,
    forgotten: &Forgotten,
    mut writer: ImportWriter<'_>,
) -> Result<Imported, CaptureError> {
    let mut kit = Kit::new()?;
    for (index, job) in jobs.iter().enumerate() {
        let mut failed = None;
        let read = read_one(index, job, wishes, forgotten, &mut kit, &mut |message| {
            failed = writer.take(message).err();
            failed.is_none()
        });
        failed.map_or(Ok(()), Err)?;
        writer.take(Message::Done { job: index, problem: read.err().map(|error| chain(&error)) })?;
    }
    writer.finish()
}

/// Several threads read, and this thread writes.
fn at_once(
    jobs: &[ReadJob],
    wishes: &Wishes,
    forgotten: &Forgotten,
    readers: usize,
    mut writer: ImportWriter<'_>,
) -> Result<Imported, CaptureError> {
    let kits = (0..readers).map(|_| Kit::new()).collect::<Result<Vec<_>, _>>()?;
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING * readers);
        for kit in kits {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || read_some(jobs, next, wishes, forgotten, kit, &sender));
        }
        drop(sender);
        // A write error drops the receiver, on which the readers exit.
        receiver.into_iter().try_for_each(|message| writer.take(message))
    })?;
    writer.finish()
}

/// The requested files that may hold something new, and how many are fully captured. Only the archive knows
/// the folder of a partly read file: the rest of the file does not repeat it.
fn jobs(
    writable: &Writable,
    wishes: &Wishes,
    files: Vec<Transcript>,
) -> Result<(Vec<ReadJob>, usize), CaptureError> {
    let (mut jobs, mut known) = (vec![], 0);
    let mut folders = HashMap::new();
    let _moment = writable.archive.snapshot()?;
    for file in files {
        let path = whole_by_folder(&file.path, &mut folders);
        let meta = std::fs::metadata(&file.path).ok();
        let end = meta.as_ref().map(|meta| (meta.len(), nanoseconds(meta)));
        let is_read_to =
            |(bytes, modified)| writable.archive.is_read_completely(&path.to_string_lossy(), bytes, modified);
        // The state of a described agent's file tells by which description it was read.
        if !file.agent.is_described() && end.map(is_read_to).transpose()?.unwrap_or(false) {
            known += 1;
            continue;
        }
        let source = known_as(&writable.archive, &file, &path)?;
        let folder = writable.archive.folder_of(&source)?;
        if folder.is_none_or(|folder| wishes.takes(Some(&folder))) {
            jobs.push(ReadJob { file, source, bytes: end.map_or(0, |(bytes, _)| bytes) });
        }
    }
    Ok((jobs, known))
}

/// The canonical path of a file: many share a folder, which is resolved once.
fn whole_by_folder(path: &Path, folders: &mut HashMap<PathBuf, PathBuf>) -> PathBuf {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return whole(path) };
    let known = folders.entry(folder.to_owned()).or_insert_with(|| whole(folder));
    if path.is_symlink() { whole(path) } else { known.join(name) }
}

/// One reader thread: takes the next file until none is left or the receiver is gone.
fn read_some(
    jobs: &[ReadJob],
    next: &AtomicUsize,
    wishes: &Wishes,
    forgotten: &Forgotten,
    mut kit: Kit,
    sender: &SyncSender<Message>,
) {
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(job) = jobs.get(index) else { return };
        let read =
            read_one(index, job, wishes, forgotten, &mut kit, &mut |message| sender.send(message).is_ok());
        let problem = read.err().map(|error| chain(&error));
        if sender.send(Message::Done { job: index, problem }).is_err() {
            return;
        }
    }
}

fn read_one(
    index: usize,
    job: &ReadJob,
    wishes: &Wishes,
    forgotten: &Forgotten,
    kit: &mut Kit,
    give: &mut dyn FnMut(Message) -> bool,
) -> std::io::Result<()> {
    let mut source = job.source.clone();
    let Some(mut steps) = Steps::open(&job.file, &mut source, wishes, forgotten, kit)? else { return Ok(()) };
    let mut fresh = source.reading.offset == 0;
    while let Some(step) = steps.next()? {
        if !give(Message::Step { job: index, fresh, step }) {
            return Ok(());
        }
        fresh = false;
    }
    Ok(())
}

/// Bytes of input per transaction: data that many small files share is then written once.
const TOGETHER: u64 = 32 << 20;

struct ImportWriter<'a> {
    env: &'a Env,
    writable: &'a Writable,
    jobs: &'a [ReadJob],
    sources: Vec<TranscriptSource>,
    /// The open transaction, and how many bytes of input it holds.
    together: Option<WriteBatch<'a>>,
    held: u64,
    /// New bytes per file.
    grown: Vec<u64>,
    done: usize,
    all: Imported,
    progress: &'a mut dyn Progress,
}

impl<'a> ImportWriter<'a> {
    fn new(
        env: &'a Env,
        writable: &'a Writable,
        jobs: &'a [ReadJob],
        progress: &'a mut dyn Progress,
    ) -> Self {
        let sources = jobs.iter().map(|job| job.source.clone()).collect();
        let all = Imported { files: jobs.len(), ..Imported::default() };
        let (together, held, grown, done) = (None, 0, vec![0; jobs.len()], 0);
        ImportWriter { env, writable, jobs, sources, together, held, grown, done, all, progress }
    }

    fn take(&mut self, message: Message) -> Result<(), CaptureError> {
        match message {
            Message::Done { job, problem } => {
                self.done += 1;
                self.all.changed += usize::from(self.grown[job] > 0);
                let path = || self.jobs[job].file.path.clone();
                self.all.unreadable.extend(problem.map(|problem| (path(), problem)));
            }
            Message::Step { job, fresh, step } => {
                if fresh {
                    let source = &mut self.sources[job];
                    *source = TranscriptSource::fresh(&source.agent, &source.path);
                }
                let (taken, grown) = self.take_in(job, step)?;
                self.all.taken = self.all.taken.plus(taken);
                self.grown[job] += grown;
                self.all.bytes += grown;
            }
        }
        self.progress.show(self.all.bytes, self.done, self.env.elapsed());
        Ok(())
    }

    fn finish(mut self) -> Result<Imported, CaptureError> {
        self.commit()?;
        self.progress.finish();
        Ok(self.all)
    }

    fn take_in(&mut self, job: usize, step: Step) -> Result<(TakenRows, u64), StoreError> {
        let together = match self.together.take() {
            Some(together) => together,
            None => self.writable.archive.begin_batch()?,
        };
        let source = &mut self.sources[job];
        let grown = step.reading.offset.saturating_sub(source.reading.offset);
        source.reading = step.reading;
        let taken = together.write_rows(source, step.rows, self.env.now)?;
        self.together = Some(together);
        self.held += grown;
        if self.held > TOGETHER {
            self.commit()?;
        }
        Ok((taken, grown))
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.held = 0;
        if let Some(together) = self.together.take() {
            together.commit()?;
            self.writable.archive.tidy_at_times()?;
        }
        Ok(())
    }
}
