//! Routes that do something.
//!
//! Those that change data are refused unless the server was started with `--write`.

use super::parts::*;
use super::{Kind, Operation, Route};

routes! {
    act Goto "/v1/seats/{session}/goto" [in_path("session", "A session or a pane")]
        "Show a seat in the user's terminal; works on a server that only reads, too";
    write Remember "/v1/memories" [
        needed_body("text", Kind::Text(20_000), "What to remember; its first line is the title"),
        body("title", WORD, "A heading"),
        body("type", WORD, "decision, preference, gotcha, discovery or another word"),
        body("files", FACTS, "Files that it is about"),
        body("concepts", FACTS, "What it is about"),
        body("project", WORD, "Of this project"),
        body("pin", Kind::Flag, "Give it to every session"),
    ] "Remember something: `tow remember --json`";
    patch Edit "/v1/memories/{id}" [
        MEMORY_ID,
        body("title", WORD, "Another title"),
        body("subtitle", Kind::Text(2_000), "Another subtitle"),
        body("narrative", Kind::Text(20_000), "Another narrative"),
        body("type", WORD, "Another type"),
        body("facts", FACTS, "In the place of all facts"),
        body("concepts", FACTS, "In the place of all concepts"),
    ] "Other words for a memory: `tow memory edit --json`";
    delete Forget "/v1/memories/{id}" [MEMORY_ID] "Erase a memory for good: `tow data forget --json`";
    write Pin "/v1/memories/{id}/pin" [MEMORY_ID] "Give a memory to every session";
    write Unpin "/v1/memories/{id}/unpin" [MEMORY_ID] "Take the pin out";
    write Accept "/v1/memories/{id}/accept" [MEMORY_ID]
        "Pin what an agent proposed, as the user's own words: `tow memory proposals accept --json`";
    write Reject "/v1/memories/{id}/reject" [MEMORY_ID] "Decline a proposal: `tow memory proposals reject --json`";
    write AcceptProposal "/v1/proposals/{id}/accept" [PROPOSAL_ID]
        "Make the change that a teammate proposed: `tow memory proposals accept --json`";
    write RejectProposal "/v1/proposals/{id}/reject" [PROPOSAL_ID]
        "Leave the memory as it is: `tow memory proposals reject --json`";
    write Supersede "/v1/memories/{id}/supersede" [
        MEMORY_ID,
        body("by", WORD, "The memory that holds instead"),
        body("because", Kind::Text(2_000), "Why"),
    ] "A memory no longer holds: `tow memory supersede --json`";
    write Hold "/v1/memories/{id}/hold" [MEMORY_ID, body("because", Kind::Text(2_000), "Why")]
        "Hold a memory back from models: a veto";
    write Release "/v1/memories/{id}/release" [MEMORY_ID] "Let models have it again";
    write Undo "/v1/undo" [needed_body("id", WORD, "A memory")]
        "Take the last change of a memory back: `tow memory undo --json`";
    write RetryJob "/v1/jobs/{id}/retry" [in_path("id", "A job's number")] "Have a job tried again";
    write DropJob "/v1/jobs/{id}/drop" [in_path("id", "A job's number")] "Leave a job";
}
