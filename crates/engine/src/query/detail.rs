//! Messages, tool inputs and outputs of past turns, by time or by id.
//!
//! Only reads. An empty result is no error, and says where it looked.

use super::past::{Past, ProjectScope};
use super::room::Room;
use super::sought::{Found, find_turns};
use super::turn::{BYTES, BYTES_OF_ONE, Thinking, TurnView, view, view_detail};
use crate::capture::Caught;
use crate::runtime::{Env, Failure};
use towline_core::when::{BadExpression, TimeExpression};

pub struct DetailRequest<'a> {
    /// Times, turns, details or sessions; or the words of one such expression.
    pub expressions: &'a [String],
    pub scope: ProjectScope,
    pub thinking: Thinking,
    /// Limit of turns.
    pub limit: usize,
    /// Limit of text, shared by the turns; 0 is unlimited.
    pub bytes: Option<usize>,
}

pub enum Details {
    Nothing {
        asked: String,
        looked: String,
    },
    /// One detail of a turn.
    One(Box<TurnView>),
    Turns {
        views: Vec<TurnView>,
        looked: String,
        left_out: usize,
        caught: Caught,
    },
}

pub fn detail(env: &Env, request: &DetailRequest<'_>) -> Result<Details, Failure> {
    let wanted = parse(request.expressions)?;
    let nothing = |looked: String| Details::Nothing { asked: request.expressions.join(" "), looked };
    let Some(past) = Past::open(env, &request.scope)? else {
        return Ok(nothing("nothing was captured yet".to_owned()));
    };
    let found = wanted.iter().map(|wanted| find_turns(&past, wanted, request.limit));
    let mut found = found.collect::<Result<Vec<Found>, Failure>>()?;
    if let [Found { turns, detail: Some(number), .. }] = found.as_mut_slice()
        && let Some((of, turn)) = turns.pop()
    {
        let room = Room::of(request.bytes.unwrap_or(BYTES_OF_ONE));
        return Ok(match view_detail(&past, of, turn, *number, room)? {
            Ok(view) => Details::One(Box::new(view)),
            Err(number) => nothing(format!("that turn has {number} details")),
        });
    }
    let looked = found.iter().map(|found| found.looked.as_str()).collect::<Vec<_>>().join("; ");
    let mut left_out: usize = found.iter().map(|found| found.left_out).sum();
    let mut turns: Vec<_> = found.into_iter().flat_map(|found| found.turns).collect();
    left_out += turns.len().saturating_sub(request.limit);
    turns.truncate(request.limit);
    if turns.is_empty() {
        return Ok(nothing(looked));
    }
    let room = Room::of(request.bytes.unwrap_or(BYTES)).shared_by(turns.len());
    let views = turns.into_iter().map(|(of, turn)| view(&past, of, turn, room, request.thinking));
    let views = views.collect::<Result<_, _>>()?;
    Ok(Details::Turns { views, looked, left_out, caught: past.caught })
}

/// Parses the expressions as one phrase of several words, else as several expressions.
fn parse(expressions: &[String]) -> Result<Vec<TimeExpression>, Failure> {
    let phrase = TimeExpression::parse(&expressions.join(" "));
    if let (Ok(wanted), _) | (Err(_), Ok(wanted)) = (phrase.clone().map(|one| vec![one]), each(expressions)) {
        return Ok(wanted);
    }
    let error = each(expressions).err().or(phrase.err());
    Err(Failure::input(error.map_or_else(String::new, |error| error.to_string()))
        .hint("Run `tow session detail --help` for examples."))
}

fn each(expressions: &[String]) -> Result<Vec<TimeExpression>, BadExpression> {
    expressions.iter().map(|expression| TimeExpression::parse(expression)).collect()
}
