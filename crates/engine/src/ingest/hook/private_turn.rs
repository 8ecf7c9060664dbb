//! Removes the text of a private turn from an event before anything is written.
//!
//! Only prompts and ends of turns hold text: a tool's result, which must stay cheap, is not looked at.

use super::HookCall;
use towline_agents::{HookEvent, StopDetails};
use towline_core::event::{EventKind, PromptOrigin};
use towline_core::fault::FaultKind;
use towline_core::redact::HIDDEN;
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};
use towline_store::private::{self, PrivateTurn};

/// Hides what belongs to a private turn. A prompt of the user decides about its turn, and ends the private one before it.
pub(super) fn hide(call: &HookCall, heard: &mut HookEvent) {
    let is_inside = heard.subagent.is_some();
    if let EventKind::PromptSubmitted { prompt, origin, own } = &mut heard.happening {
        let before = private::of(&call.env.home, &heard.session);
        let reports = is_inside || *origin == PromptOrigin::Notification;
        heard.is_private |= reports && before != PrivateTurn::Never;
        let decides = !is_inside && own.is_none() && origin.is_work();
        let changed = if heard.is_private && !is_inside {
            private::begin(&call.env.home, &heard.session)
        } else if decides && before == PrivateTurn::Running {
            private::end(&call.env.home, &heard.session)
        } else {
            Ok(())
        };
        if heard.is_private {
            *prompt = SafeText::new(HIDDEN, PLACEHOLDER);
        }
        if let Err(error) = changed {
            call.fault(FaultKind::Store, format!("could not note that a turn is private: {error}"));
        }
    } else if let EventKind::TurnEnded { answer, .. } = &mut heard.happening {
        let turn = private::of(&call.env.home, &heard.session);
        heard.is_private = turn == PrivateTurn::Running || (is_inside && turn == PrivateTurn::Over);
        if heard.is_private {
            *answer = None;
            heard.ending = StopDetails { was_blocked: heard.ending.was_blocked, ..StopDetails::default() };
        }
    }
}

const PLACEHOLDER: TextPolicy = TextPolicy { longest_bytes: HIDDEN.len(), secrets: SecretPolicy::Redacted };
