// Changes that a person makes here, one after the other, and the way back from the last one.

import * as api from "./api.js";
import { notice, trouble } from "./dialogs.js";

let last = null;

/** Asks for a change; says what was done, or why not. `id` is what could be undone, `null` for what cannot. */
export async function change(id, says, ask) {
  try {
    const answer = await ask();
    // A teammate's memory: its owner was asked, and nothing was changed here.
    const asked = answer?.proposals?.find((proposal) => proposal.owner);
    last = asked ? null : id;
    notice(
      asked ? `Proposed to ${asked.owner} as ${asked.id}` : says,
      last ? { label: "Undo", act: () => undo() } : {},
    );
    return true;
  } catch (error) {
    trouble(error);
    return false;
  }
}

/** Takes the last change back; whoever shows it hears of that by `undone`. */
export async function undo() {
  if (!last) return notice("Nothing was changed here that could be undone.");
  const id = last;
  last = null;
  try {
    await api.post("/v1/undo", { id });
    notice(`Undone: the last change of ${id}`);
    document.dispatchEvent(new CustomEvent("undone", { detail: id }));
  } catch (error) {
    trouble(error);
  }
}
