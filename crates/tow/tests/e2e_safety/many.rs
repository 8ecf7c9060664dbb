//! More than one seat: two clients in one project, two panes behind one daemon, and sessions that a person left by hand.
