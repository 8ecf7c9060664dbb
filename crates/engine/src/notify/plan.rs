//! Which notifications are still pending for the waiting seats, and when each is due.
//!
//! A pure function of seats, history and settings. A state the user has seen is never announced.

use crate::runtime::config::Notify;
use std::time::Duration;
use towline_core::id::SessionKey;
use towline_core::shown::SeatView;
use towline_core::time::Timestamp;
use towline_store::told::{LastNotification, NotificationTopic, NotifyChannel};

/// Steps overdue by more than this are dropped; the notification history is kept for longer.
const LATEST_MS: i64 = 12 * 3600 * 1000;

/// One pending notification: a seat's state over one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub topic: NotificationTopic,
    pub seat: SeatView,
    pub due: Timestamp,
}

/// All pending steps, the next one first.
pub fn plan(
    seats: &[SeatView],
    notify: &Notify,
    told: &dyn Fn(&NotificationTopic) -> Option<LastNotification>,
    now: Timestamp,
) -> Vec<Step> {
    let waits = |seat: &&SeatView| {
        !seat.seen && notify.notifies_on(seat.state) && !notify.is_muted(seat.project.as_deref())
    };
    let ways: Vec<(NotifyChannel, Duration)> = ways(notify);
    let mut steps: Vec<Step> = seats
        .iter()
        .filter(waits)
        .flat_map(|seat| ways.iter().filter_map(|(way, after)| step(seat, *way, *after)))
        // After the clock was set back, `told.at` may lie in the future: clamp it, so that it delays nothing.
        .filter_map(|step| left(step, notify.debounce, &|topic| told(topic).map(|told| past(told, now))))
        .filter(|step| now.since_ms(step.due) <= LATEST_MS)
        .collect();
    steps.sort_by_key(|step| step.due);
    steps
}

fn ways(notify: &Notify) -> Vec<(NotifyChannel, Duration)> {
    let phone = notify.phone_after.filter(|_| !notify.phone.is_empty());
    let ways = [(NotifyChannel::Desktop, notify.desktop_after), (NotifyChannel::Phone, phone)];
    ways.into_iter().filter_map(|(way, after)| Some((way, after?))).collect()
}

fn step(seat: &SeatView, way: NotifyChannel, after: Duration) -> Option<Step> {
    let session = SessionKey::parse(seat.session.as_deref()?).ok()?;
    let topic = NotificationTopic { session, state: seat.state, way };
    Some(Step { topic, seat: seat.clone(), due: seat.since.plus_ms(milliseconds(after)) })
}

/// Drops a step that was taken already; a state entered again waits for the debounce interval.
fn left(
    step: Step,
    debounce: Duration,
    told: &dyn Fn(&NotificationTopic) -> Option<LastNotification>,
) -> Option<Step> {
    match told(&step.topic) {
        None => Some(step),
        Some(told) if told.since == step.seat.since => None,
        Some(told) => {
            let earliest = told.at.plus_ms(milliseconds(debounce));
            Some(Step { due: step.due.max(earliest), ..step })
        }
    }
}

fn past(told: LastNotification, now: Timestamp) -> LastNotification {
    LastNotification { at: told.at.min(now), ..told }
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Config;
    use towline_core::event::BlockReason;
    use towline_core::session::SessionState;

    const BLOCKED: SessionState = SessionState::Blocked(BlockReason::Permission);

    fn notify() -> Notify {
        Notify {
            desktop_after: Some(Duration::from_secs(30)),
            phone_after: Some(Duration::from_secs(600)),
            phone: vec!["curl".into()],
            mute_projects: vec!["noise".into()],
            ..Config::compiled_in().notify.into_inner()
        }
    }

    fn seat(name: &str, state: SessionState, since: i64) -> SeatView {
        SeatView {
            session: Some(format!("agent:{name}")),
            state,
            seen: false,
            project: Some("app".into()),
            ..SeatView::at(name, "agent", Timestamp(since * 1000))
        }
    }

    fn planned(
        seats: &[SeatView],
        notify: &Notify,
        told: &dyn Fn(&NotificationTopic) -> Option<LastNotification>,
    ) -> Vec<String> {
        let line =
            |step: &Step| format!("{} {} {}", step.due.0 / 1000, step.seat.seat, step.topic.way.name());
        plan(seats, notify, told, Timestamp(100_000)).iter().map(line).collect()
    }

    #[test]
    fn each_way_has_its_time_and_the_next_step_comes_first() {
        let seats = [seat("a", BLOCKED, 100), seat("b", SessionState::Completed, 50)];
        let steps = planned(&seats, &notify(), &|_| None);
        assert_eq!(steps, ["80 b desktop", "130 a desktop", "650 b phone", "700 a phone"]);
    }

    #[test]
    fn what_was_seen_or_works_or_is_muted_is_not_told() {
        let seen = SeatView { seen: true, ..seat("a", BLOCKED, 1) };
        let muted = SeatView { project: Some("noise".into()), ..seat("b", BLOCKED, 1) };
        let seats = [seen, muted, seat("c", SessionState::Working, 1), seat("d", SessionState::Idle, 1)];
        assert_eq!(planned(&seats, &notify(), &|_| None), Vec::<String>::new());
    }

    #[test]
    fn a_way_without_a_time_or_a_command_is_not_taken() {
        let no_command = Notify { phone: vec![], desktop_after: None, ..notify() };
        assert_eq!(planned(&[seat("a", BLOCKED, 1)], &no_command, &|_| None), Vec::<String>::new());
    }

    #[test]
    fn a_step_is_taken_once_and_the_same_state_entered_anew_waits_a_moment() {
        let seats = [seat("a", BLOCKED, 100)];
        let at = |since: i64, at: i64| {
            move |_: &NotificationTopic| Some(LastNotification { since: Timestamp(since), at: Timestamp(at) })
        };
        assert_eq!(planned(&seats, &notify(), &at(100_000, 130_000)), Vec::<String>::new());
        let at_once = Notify { desktop_after: Some(Duration::ZERO), phone_after: None, ..notify() };
        assert_eq!(planned(&seats, &at_once, &at(99_000, 99_500)), ["101 a desktop"]);
        assert_eq!(planned(&seats, &at_once, &at(1_000, 1_000)), ["100 a desktop"]);
    }

    #[test]
    fn what_is_long_overdue_is_let_be() {
        let at_once = Notify { desktop_after: Some(Duration::ZERO), phone_after: None, ..notify() };
        let steps = |since| plan(&[seat("a", BLOCKED, since)], &at_once, &|_| None, Timestamp(100_000_000));
        assert_eq!((steps(100_000 - 12 * 3600).len(), steps(100_000 - 12 * 3600 - 1).len()), (1, 0));
    }
}
