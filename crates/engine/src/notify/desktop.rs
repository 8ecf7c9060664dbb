//! Desktop notifications through `notify-send` or `osascript`.
//!
//! Texts are passed as arguments: none can become an option, a part of a script, or markup.

use super::errand::Errand;
use towline_core::session::SessionState;
use towline_core::telling::Notification;

/// The notification command for the first program on the PATH; `None` if there is none.
pub fn desktop(telling: &Notification, is_there: &dyn Fn(&str) -> bool) -> Option<Errand> {
    let words = if is_there("notify-send") {
        notify_send(telling)
    } else if is_there("osascript") {
        osascript(telling)
    } else {
        return None;
    };
    let mut words = words.into_iter();
    Some(Errand {
        name: "notify.desktop_after_s".into(),
        program: words.next()?,
        arguments: words.collect(),
        variables: vec![],
    })
}

fn notify_send(telling: &Notification) -> Vec<String> {
    let urgency = if matches!(telling.to, SessionState::Blocked(_)) { "critical" } else { "normal" };
    // Most desktops interpret the body as markup.
    let body = telling.body().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let options =
        ["notify-send", "--app-name=Towline", &format!("--urgency={urgency}"), "--"].map(str::to_owned);
    options.into_iter().chain([telling.heading(), body]).collect()
}

fn osascript(telling: &Notification) -> Vec<String> {
    let script = [
        "on run argv",
        "display notification (item 2 of argv) with title \"Towline\" subtitle (item 1 of argv)",
        "end run",
    ];
    let mut words = vec!["osascript".to_owned()];
    words.extend(script.iter().flat_map(|line| ["-e".to_owned(), (*line).to_owned()]));
    words.extend(["--".to_owned(), telling.heading(), telling.body()]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use towline_core::event::BlockReason;
    use towline_core::shown::SeatView;
    use towline_core::time::Timestamp;

    fn words(there: &str, state: SessionState) -> Option<Vec<String>> {
        let seat = SeatView {
            session: Some("agent:id".into()),
            state,
            seen: false,
            project: Some("-app".into()),
            prompt: Some("<b>\"do\" & shell script</b>".into()),
            ..SeatView::at("s", "agent", Timestamp(0))
        };
        let errand = desktop(&Notification::of(&seat, None, state), &|name| {
            there.split(' ').any(|known| known == name)
        })?;
        Some([vec![errand.program], errand.arguments].concat())
    }

    #[test]
    fn texts_are_neither_options_nor_markup_for_notify_send() {
        let blocked = words("osascript notify-send", SessionState::Blocked(BlockReason::Question)).unwrap();
        assert_eq!(
            blocked,
            [
                "notify-send",
                "--app-name=Towline",
                "--urgency=critical",
                "--",
                "-app: blocked (question)",
                "agent · &lt;b&gt;\"do\" &amp; shell script&lt;/b&gt;"
            ]
        );
        assert!(
            words("notify-send", SessionState::Completed).unwrap().contains(&"--urgency=normal".to_owned())
        );
    }

    #[test]
    fn texts_are_no_part_of_an_apple_script() {
        let words = words("osascript", SessionState::Limited).unwrap();
        let at = words.iter().position(|word| word == "--").unwrap();
        assert_eq!(words[at + 1..], ["-app: limited", "agent · <b>\"do\" & shell script</b>"]);
        assert!(words[..at].iter().all(|word| !word.contains("app:")));
    }

    #[test]
    fn without_either_program_there_is_no_desktop() {
        assert_eq!(words("notify", SessionState::Completed), None);
    }
}
