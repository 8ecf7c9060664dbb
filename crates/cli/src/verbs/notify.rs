//! `tow config notify`: lists the notification channels, and sends a sample through each.
//!
//! Runs nothing without `--test`. With it, reports the result of every channel, successful or not.

use crate::output::Tone;
use crate::scope::Scope;
use clap::Args;
use serde::Serialize;
use std::process::ExitCode;
use std::time::Duration;
use towline_core::event::BlockReason;
use towline_core::session::SessionState;
use towline_core::shown::SeatView;
use towline_core::telling::{Notification, TerminalSignal};
use towline_engine::notify::{Errand, NO_DESKTOP, Outcome, Voice, errand};
use towline_engine::runtime::config::{OCCASIONS, layered};
use towline_engine::runtime::text::plain_text;
use towline_engine::runtime::{Config, Failure, Kind};
use towline_engine::status::tmux::conf::current_server;
use towline_engine::status::tmux::options::Options;
use towline_store::told::NotifyChannel;

const EXAMPLES: &str = "\
Examples:
  tow config notify                                     what is set up
  tow config notify --test                              send one sample through every way
  tow config set notify.terminal bell            ring in the agent's own terminal, at once
  tow config set notify.desktop_after_s 30       the desktop, of what was not seen for 30 seconds
  tow config set notify.phone '[\"curl\", \"-sS\", \"-d\", \"{summary}\", \"ntfy.sh/me\"]'
  tow config set notify.phone_after_s 300        the phone, of what was not seen for five minutes
  tow config set notify.on_blocked '[\"paplay\", \"/usr/share/sounds/bell.oga\"]'
  tow config set notify.mute_projects '[\"playground\"]'";

/// Show how you are notified when an agent waits for you, and test it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Send a sample through every configured channel.
    #[arg(long)]
    test: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// One notification channel.
#[derive(Debug, Serialize)]
struct ChannelRow {
    /// The configuration key or tmux option that sets it.
    way: String,
    status: ChannelStatus,
    detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ChannelStatus {
    Off,
    Set,
    Done,
    /// Started, and still running.
    Running,
    Failed,
    /// The setting is invalid.
    Mistaken,
}

impl ChannelStatus {
    fn look(self) -> (Tone, &'static str) {
        match self {
            ChannelStatus::Off => (Tone::Faint, "off     "),
            ChannelStatus::Set => (Tone::Faint, "set     "),
            ChannelStatus::Done => (Tone::Good, "done    "),
            ChannelStatus::Running => (Tone::Warning, "running "),
            ChannelStatus::Failed => (Tone::Bad, "failed  "),
            ChannelStatus::Mistaken => (Tone::Bad, "mistaken"),
        }
    }
}

const NOTHING_IS_ON: &str = "\
No notification is on. Turn one on, then run `tow config notify --test`:
  tow config set notify.terminal bell          ring in the agent's own terminal
  tow config set notify.desktop_after_s 30     a desktop notification after 30 seconds unseen";

/// Timeout of a sample.
const PATIENCE: Duration = Duration::from_secs(15);

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let user = std::fs::read_to_string(&scope.env.config_file).unwrap_or_default();
    let found = layered(&user);
    let concerned =
        found.mistakes.iter().filter(|mistake| mistake.key.is_empty() || mistake.key.starts_with("notify"));
    let mut rows: Vec<ChannelRow> =
        concerned.map(|mistake| row(&mistake.key, ChannelStatus::Mistaken, mistake.to_string())).collect();
    rows.push(terminal(scope, arguments, &found.config));
    let mut errands =
        vec![later(&found.config, NotifyChannel::Desktop), later(&found.config, NotifyChannel::Phone)];
    errands.extend(commands("notify.on_", &found.config.notify.commands));
    errands.extend(of_tmux(scope, &mut rows));
    rows.extend(errands.into_iter().map(|found| if arguments.test { found.tried() } else { found.shown() }));
    print(scope, arguments, &rows);
    let fine = rows.iter().all(|row| !matches!(row.status, ChannelStatus::Failed | ChannelStatus::Mistaken));
    Ok(if fine { ExitCode::SUCCESS } else { Kind::Failed.exit_code() })
}

fn row(way: impl Into<String>, status: ChannelStatus, detail: impl Into<String>) -> ChannelRow {
    ChannelRow { way: way.into(), status, detail: detail.into() }
}

/// A channel that runs a program, or the reason why it does not.
enum ChannelSetup {
    Off { way: String },
    Unusable { way: String, why: String },
    Ready { when: String, errand: Errand },
}

impl ChannelSetup {
    fn shown(self) -> ChannelRow {
        match self {
            ChannelSetup::Off { way } => row(way, ChannelStatus::Off, ""),
            ChannelSetup::Unusable { way, why } => row(way, ChannelStatus::Failed, why),
            ChannelSetup::Ready { when, errand } => {
                row(errand.name, ChannelStatus::Set, format!("{when}: {}", errand.program))
            }
        }
    }

    fn tried(self) -> ChannelRow {
        let ChannelSetup::Ready { errand, .. } = self else { return self.shown() };
        match errand.run(Voice::Heard, PATIENCE) {
            Outcome::Done => row(errand.name, ChannelStatus::Done, format!("`{}` ran", errand.program)),
            Outcome::Running => {
                row(errand.name, ChannelStatus::Running, format!("`{}` has not ended yet", errand.program))
            }
            Outcome::Failed(why) => row(errand.name, ChannelStatus::Failed, why),
        }
    }
}

fn terminal(scope: &Scope, arguments: &Arguments, config: &Config) -> ChannelRow {
    let sign = config.notify.terminal;
    if sign == TerminalSignal::Off {
        return row("notify.terminal", ChannelStatus::Off, "");
    }
    if arguments.test && !arguments.json {
        scope.out.text(&sample("blocked").terminal_sequence(sign));
        return row("notify.terminal", ChannelStatus::Done, format!("{} went to this terminal", sign.name()));
    }
    row("notify.terminal", ChannelStatus::Set, format!("{}, for agents that pass it on", sign.name()))
}

fn later(config: &Config, way: NotifyChannel) -> ChannelSetup {
    let notify = &config.notify;
    let (key, after) = match way {
        NotifyChannel::Desktop => ("notify.desktop_after_s", notify.desktop_after),
        NotifyChannel::Phone | NotifyChannel::AtOnce => ("notify.phone", notify.phone_after),
    };
    let Some(after) = after else { return ChannelSetup::Off { way: key.to_owned() } };
    let unusable = |why: &str| ChannelSetup::Unusable { way: key.to_owned(), why: why.to_owned() };
    if way == NotifyChannel::Phone && notify.phone.is_empty() {
        return unusable("`notify.phone_after_s` is set, but `notify.phone` is no command");
    }
    match errand(notify, way, &sample("blocked")) {
        Some(errand) => ChannelSetup::Ready { when: format!("after {} s unseen", after.as_secs()), errand },
        None => unusable(NO_DESKTOP),
    }
}

fn commands(prefix: &str, book: &towline_engine::runtime::config::Commands) -> Vec<ChannelSetup> {
    let ready = |occasion: &&str| {
        let errand = Errand::new(format!("{prefix}{occasion}"), book.get(*occasion)?, &sample(occasion));
        let when =
            if *occasion == "transition" { "at every change".into() } else { format!("when {occasion}") };
        Some(ChannelSetup::Ready { when, errand })
    };
    OCCASIONS.iter().filter_map(ready).collect()
}

/// The notification commands in the options of the current tmux server.
fn of_tmux(scope: &Scope, rows: &mut Vec<ChannelRow>) -> Vec<ChannelSetup> {
    let Some(server) = current_server() else { return vec![] };
    let (options, mistakes) = Options::current(&scope.env, &server);
    let concerned = mistakes.into_iter().filter(|mistake| mistake.option.starts_with("@towline-on-"));
    rows.extend(
        concerned.map(|mistake| {
            row(mistake.option, ChannelStatus::Mistaken, format!("must be {}", mistake.wanted))
        }),
    );
    commands("@towline-on-", &options.commands)
}

/// A made-up agent in the state that the channel is for.
fn sample(occasion: &str) -> Notification {
    let state = match SessionState::parse(occasion, None) {
        Some(state) => state,
        None => SessionState::Blocked(BlockReason::Permission),
    };
    let seat = SeatView {
        session: Some("sample:sample".into()),
        state,
        seen: false,
        project: Some("towline".into()),
        branch: Some("main".into()),
        prompt: Some("A sample of `tow config notify --test`".into()),
        ..SeatView::at("sample", "sample", towline_core::time::Timestamp(0))
    };
    Notification::of(&seat, Some(SessionState::Working), state)
}

fn print(scope: &Scope, arguments: &Arguments, rows: &[ChannelRow]) {
    if arguments.json {
        return scope.out.json(&serde_json::json!({ "ways": rows }));
    }
    let width = rows.iter().map(|row| row.way.chars().count()).max().unwrap_or(0);
    for row in rows {
        let (tone, word) = row.status.look();
        let status = scope.out.tint(tone, word);
        scope.out.line(format!("{status} {:width$}  {}", row.way, plain_text(&row.detail)).trim_end());
    }
    if rows.iter().all(|row| row.status == ChannelStatus::Off) {
        scope.out.line(NOTHING_IS_ON);
    }
}
