//! The ids of traces and spans: derived from the session and what the span is, so that a span that is sent twice has one id.
//!
//! Pure. Knows nothing of what a span contains.

use ring::digest::{Context, SHA256};
use towline_core::id::SessionKey;

/// What a span is, within its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanOf {
    /// A run of the session, by its first turn; 0 is the first run.
    Run(u32),
    Turn(u32),
    /// A tool call, by its turn and the agent's id of the call.
    Call(u32, i64),
    /// A wait for the user, by its beginning.
    Wait(i64),
}

pub(super) fn trace_id(session: &SessionKey) -> Vec<u8> {
    digest(session, "trace", [0, 0])[..16].to_vec()
}

pub(super) fn span_id(session: &SessionKey, of: SpanOf) -> Vec<u8> {
    let (kind, numbers) = match of {
        SpanOf::Run(turn) => ("session", [turn.into(), 0]),
        SpanOf::Turn(turn) => ("turn", [turn.into(), 0]),
        SpanOf::Call(turn, call) => ("call", [turn.into(), call]),
        SpanOf::Wait(began_at) => ("wait", [began_at, 0]),
    };
    digest(session, kind, numbers)[..8].to_vec()
}

fn digest(session: &SessionKey, kind: &str, numbers: [i64; 2]) -> Vec<u8> {
    let mut context = Context::new(&SHA256);
    context.update(session.to_string().as_bytes());
    context.update(&[0]);
    context.update(kind.as_bytes());
    numbers.iter().for_each(|number| context.update(&number.to_be_bytes()));
    context.finish().as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_span_has_an_id_of_its_own_that_never_changes() {
        let session = SessionKey::parse("agent:s-1").unwrap();
        let of = [
            SpanOf::Run(0),
            SpanOf::Run(3),
            SpanOf::Turn(3),
            SpanOf::Call(3, 0),
            SpanOf::Call(4, 0),
            SpanOf::Call(3, -1),
            SpanOf::Wait(3),
        ];
        let ids: HashSet<Vec<u8>> = of.iter().map(|of| span_id(&session, *of)).collect();
        assert_eq!(ids.len(), of.len());
        assert!(ids.iter().all(|id| id.len() == 8));
        assert_eq!(trace_id(&session).len(), 16);
        assert_ne!(trace_id(&session), trace_id(&SessionKey::parse("agent:s-2").unwrap()));
    }
}
