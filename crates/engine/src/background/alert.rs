//! Delayed notifications for seats still unseen: a process that takes each step when due, then exits.
//!
//! At most one exists, by a lock that dies with it; others wake it through a socket. Steps are stored before
//! they are taken: a killed process neither repeats nor blocks any, and the next one continues from there.

use crate::ingest::live::{self, Glance};
use crate::notify::{NO_DESKTOP, Outcome, Step, Voice, errand, fault, nudge, steps};
use crate::runtime::config::Notify;
use crate::runtime::{Env, Failure, settings};
use std::fs::{self, File};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;
use towline_core::telling::Notification;
use towline_store::DataFolder;
use towline_store::lock::wait_for;
use towline_store::told::{self, LastNotification};

/// Upper bound of a sleep: seats and settings may have changed, and clocks jump.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// For a process that cannot be woken, because its path is too long for a socket.
const DEAF_SLEEP: Duration = Duration::from_secs(5);

/// How long a notification program may run before the next step.
const PATIENCE: Duration = Duration::from_secs(15);

/// Waits and notifies until no step is left. A process that finds the lock taken leaves its seat to the
/// holder, which checks again after releasing it.
pub fn watch(env: &Env) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::unusable(env.home.folder(), &error);
    loop {
        let Some(post) = Post::take(&env.home).map_err(failed)? else {
            nudge(&env.home);
            return Ok(());
        };
        while let Some(sleep) = take_due_steps(env)? {
            post.wait(sleep);
        }
        drop(post);
        if look(env)?.steps.is_empty() {
            return Ok(());
        }
    }
}

/// Lock and socket of the waiting process. The socket closes first: no wake-up reaches one that has left.
struct Post {
    ear: Option<UnixDatagram>,
    _lock: File,
}

impl Post {
    fn take(home: &DataFolder) -> io::Result<Option<Post>> {
        let Some(lock) = wait_for(&home.alert_lock(), [])? else { return Ok(None) };
        // Left behind by a killed process: we hold the lock.
        let _ = fs::remove_file(home.alert_socket());
        Ok(Some(Post { ear: UnixDatagram::bind(home.alert_socket()).ok(), _lock: lock }))
    }

    /// Returns after a wake-up or the timeout.
    fn wait(&self, sleep: Duration) {
        let (ear, longest) = match &self.ear {
            Some(ear) => (ear.try_clone(), LONGEST_SLEEP),
            None => (UnixDatagram::unbound(), DEAF_SLEEP),
        };
        let Ok(ear) = ear else { return };
        // A zero timeout would block forever.
        let sleep = sleep.clamp(Duration::from_millis(1), longest);
        if ear.set_read_timeout(Some(sleep)).is_ok() {
            let _ = ear.recv(&mut [0; 8]);
        }
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        if let Some(path) =
            self.ear.take().and_then(|ear| ear.local_addr().ok()?.as_pathname().map(ToOwned::to_owned))
        {
            let _ = fs::remove_file(path);
        }
    }
}

/// The current seats, and the steps still to take.
struct PendingSteps {
    env: Env,
    notify: Notify,
    steps: Vec<Step>,
}

fn look(begun: &Env) -> Result<PendingSteps, Failure> {
    let env = begun.later();
    let notify = settings(&env).notify.into_inner();
    let steps = steps(&env, &notify, &live::seats(&env, Glance::Cheap)?);
    Ok(PendingSteps { env, notify, steps })
}

/// Takes the steps that are due. Returns the time until the next one, if any.
fn take_due_steps(begun: &Env) -> Result<Option<Duration>, Failure> {
    let PendingSteps { env, notify, steps } = look(begun)?;
    let (due, later): (Vec<_>, Vec<_>) = steps.into_iter().partition(|step| step.due <= env.now);
    for step in &due {
        take(&env, &notify, step)?;
    }
    if !due.is_empty() {
        // Notifying takes time: the seats may have changed.
        return Ok(Some(Duration::ZERO));
    }
    let wait = |step: &Step| step.due.since_ms(env.now).unsigned_abs();
    Ok(later.first().map(|step| Duration::from_millis(wait(step))))
}

/// A step that cannot be stored is not taken: it would be repeated endlessly.
fn take(env: &Env, notify: &Notify, step: &Step) -> Result<(), Failure> {
    let told = LastNotification { since: step.seat.since, at: env.now };
    told::remember(&env.home, &step.topic, told).map_err(|error| {
        let folder = env.home.notified_file();
        fault(env, format!("nothing can be told while {} cannot be written", folder.display()));
        Failure::about(format!("could not write to {}", folder.display()), &error).hint("Run `tow doctor`.")
    })?;
    let telling = Notification::of(&step.seat, None, step.seat.state);
    match errand(notify, step.topic.way, &telling) {
        None => fault(env, format!("`{}`: {NO_DESKTOP}", step.topic.way.name())),
        Some(errand) => match errand.run(Voice::Silent, PATIENCE) {
            Outcome::Done | Outcome::Running => {}
            Outcome::Failed(why) => fault(env, format!("`{}`: {why}", errand.name)),
        },
    }
    Ok(())
}
