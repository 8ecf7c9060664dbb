// Tells Towline what happens in this program, and passes on what it answers. `tow install` writes this file,
// `tow uninstall` removes it. Without `tow`, or if that is slow or fails, nothing happens.
import { spawn } from "node:child_process";

const TOW = @TOW@;
const AGENT = @AGENT@;
// The tools that touch files, if the user wants warnings before they do.
const FILE_TOOLS = @FILE_TOOLS@;

// How long a call of `tow` may take, and how long this program waits for it at most, in milliseconds.
const CALL_MS = 5000;
const WAIT_MS = 4500;
// More calls than this are not kept waiting behind a slow one; the events of tools are left out then.
const WAITING = 100;
// How long the window takes to show another session.
const SHOWN_MS = 500;
// How long the client looks up a session.
const FOUND_MS = 1000;
// What a tool's error says after a refusal that ends the turn; with a reason given, the agent goes on.
const REFUSED = /^The user (rejected permission to use this specific tool call\.|dismissed this question)/;

const call = (event, payload) =>
  new Promise((done) => {
    let said = "";
    const end = () => {
      try {
        done(said.trim() ? JSON.parse(said) : {});
      } catch {
        done({});
      }
    };
    try {
      const child = spawn(TOW, ["hook", AGENT, event], { stdio: ["pipe", "pipe", "ignore"], timeout: CALL_MS, killSignal: "SIGKILL" });
      child.on("error", () => done({}));
      child.on("close", end);
      child.stdin.on("error", () => {});
      child.stdout.on("data", (part) => (said += part));
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }));
    } catch {
      done({});
    }
  });

// Shows the user what `tow` has to say to them.
let toast = async () => {};
const show = (reply) => {
  if (reply.systemMessage) toast(reply.systemMessage).catch(() => {});
  return reply;
};

// Events reach `tow` one after the other, in the order in which they happened.
let last = Promise.resolve();
let waiting = 0;
const tell = (event, payload) => {
  if (waiting >= WAITING) return Promise.resolve({});
  waiting += 1;
  last = last.then(() => call(event, payload)).then(show).finally(() => (waiting -= 1));
  return last;
};
const told = (event, payload) => {
  let timer;
  const late = new Promise((done) => (timer = setTimeout(() => done({}), WAIT_MS)));
  return Promise.race([tell(event, payload), late]).finally(() => clearTimeout(timer));
};

// A plugin that throws would break the work in this program.
const safely = (react) => async (...given) => {
  try {
    return await react(...given);
  } catch {}
};

export const Towline = async ({ client, directory }) => {
  toast = async (message) => client.tui.showToast({ body: { message, variant: "info" } });
  // What is known about each session, by its id; the session that was prompted last; a command until its prompt comes.
  const sessions = new Map();
  let latest = "";
  let command;

  const of = (id) => {
    const fresh = () => ({ id, folder: directory, roles: new Map(), texts: new Map(), tools: new Set(), warnings: [] });
    if (!sessions.has(id)) sessions.set(id, fresh());
    return sessions.get(id);
  };
  const rootOf = (id) => {
    let session = of(id);
    for (let up = 0; session.parent && up < 16; up += 1) session = of(session.parent);
    return session;
  };
  const payload = (id, more) => {
    const root = rootOf(id);
    return { session_id: root.id, cwd: root.folder, ...(root.id === id ? {} : { agent_id: id }), ...more };
  };
  const learn = (info) => {
    const session = of(info.id);
    session.isKnown = true;
    session.parent = info.parentID;
    session.folder = info.directory || session.folder;
    return session;
  };
  const look = async (id) => {
    const session = of(id);
    if (session.isKnown) return session;
    session.isKnown = true;
    const found = await Promise.race([client.session.get({ path: { id } }), new Promise((done) => setTimeout(done, FOUND_MS))]);
    if (found?.data) learn(found.data);
    return session;
  };

  // A session is new to `tow` with its first prompt here; the one before it in this window is left then.
  const started = (session) => {
    if (latest === session.id) return () => {};
    const source = !session.isNew ? "resume" : latest ? "clear" : "startup";
    const before = latest;
    latest = session.id;
    session.isNew = false;
    const left = () => void (before && tell("SessionEnd", payload(before, { reason: source === "clear" ? "clear" : "other" })));
    if (!session.isHanded) left();
    tell("SessionStart", payload(session.id, { source, model: session.model }));
    return session.isHanded ? left : () => {};
  };

  // A part of a prompt that the model is given and the screen does not show.
  const hidden = (message, id, text) => ({ id, sessionID: message.sessionID, messageID: message.id, type: "text", synthetic: true, text });
  // What the session lost is asked for at once, and given with the next request to the model, whoever makes it.
  const compacted = (session) => {
    if (!session.compactingAt) return;
    session.compactingAt = undefined;
    tell("PostCompact", payload(session.id));
    if (session.parent) return;
    const asked = told("SessionStart", payload(session.id, { source: "compact", model: session.model }));
    session.lost = asked.then((reply) => reply.additionalContext);
  };
  const takeLost = async (session) => {
    const { lost } = session;
    session.lost = undefined;
    return await lost;
  };
  const takeWarnings = (session) => session.warnings.splice(0).map((warning) => warning.trimEnd());

  // The message whose tool or question was refused: the turn ends with it, unless the agent writes another one. A text of
  // that message may still be completed after the refusal.
  const refuse = (id, message = of(id).message) => (rootOf(id).refused = message ?? id);
  const answer = (session) => {
    const texts = [...session.texts.values()].filter(({ message }) => message === session.message);
    return texts.map(({ text }) => text).join("\n");
  };
  const ended = async (session) => {
    // An interrupted turn ends twice, the second time perhaps behind the next prompt, which nothing works on yet.
    if (!session.isInTurn || !session.isBusy) return;
    session.isInTurn = session.isBusy = false;
    if (session.refused) return void tell("Interrupt", payload(session.id));
    const words = { last_assistant_message: answer(session), stop_hook_active: !!session.isHeld };
    const fill = session.tokens ? { input_tokens: session.tokens, context_limit: session.window } : {};
    const reply = await tell("Stop", payload(session.id, { ...words, ...fill }));
    const goesOn = reply.decision === "block";
    session.isHeld = goesOn && !reply.clearContext;
    if (!goesOn) return;
    const target = reply.clearContext ? await fresh() : session.id;
    await client.session.promptAsync({ path: { id: target }, body: { agent: session.agent, parts: [{ type: "text", text: reply.reason }] } });
  };
  // Another session in the same window, without a key pressed: what the user has typed there stays.
  const fresh = async () => {
    const made = await client.session.create({ body: {} });
    const session = learn(made.data);
    session.isNew = session.isHanded = true;
    await client.tui.publish({ body: { type: "tui.session.select", properties: { sessionID: session.id } } });
    // The window loads the session; a prompt that came meanwhile would not be shown.
    await new Promise((done) => setTimeout(done, SHOWN_MS));
    return session.id;
  };

  const on = {
    "session.created": ({ info }) => {
      const session = learn(info);
      session.isNew = true;
      if (info.parentID) tell("SubagentStart", payload(info.id, { agent_type: info.agent }));
    },
    "session.updated": ({ info }) => void learn(info),
    "session.status": ({ sessionID, status }) => {
      if (status.type === "busy") of(sessionID).isBusy = true;
    },
    "session.idle": async ({ sessionID }) => {
      const session = of(sessionID);
      if (!session.parent) return ended(session);
      if (session.isBusy) tell("SubagentStop", payload(sessionID));
      session.isBusy = false;
    },
    "session.error": ({ sessionID, error }) => {
      const session = sessionID && of(sessionID);
      if (!session?.isInTurn) return;
      session.isInTurn = session.isBusy = false;
      if (error?.name === "MessageAbortedError") return void tell("Interrupt", payload(sessionID));
      tell("StopFailure", payload(sessionID, { error: String(error?.data?.statusCode ?? error?.name ?? "") }));
    },
    "session.compacted": ({ sessionID }) => compacted(of(sessionID)),
    "permission.asked": ({ sessionID, permission }) => void tell("PermissionRequest", payload(sessionID, { tool_name: permission })),
    "permission.replied": ({ sessionID, reply }) => {
      if (reply === "reject") refuse(sessionID);
      tell("Answered", payload(sessionID));
    },
    "question.asked": ({ sessionID }) => void tell("Question", payload(sessionID)),
    "question.replied": ({ sessionID }) => void tell("Answered", payload(sessionID)),
    "question.rejected": ({ sessionID }) => {
      refuse(sessionID);
      tell("Answered", payload(sessionID));
    },
    "message.updated": ({ info }) => {
      const session = of(info.sessionID);
      session.roles.set(info.id, info.role);
      if (info.role !== "assistant" || info.summary) return;
      session.message = info.id;
      const { input = 0, output = 0, reasoning = 0, cache } = info.tokens ?? {};
      const tokens = input + output + reasoning + (cache?.read ?? 0) + (cache?.write ?? 0);
      if (tokens) session.tokens = tokens;
    },
    "message.part.removed": ({ sessionID, partID }) => void of(sessionID).texts.delete(partID),
    "message.part.updated": ({ part }) => {
      const session = of(part.sessionID);
      if (part.type === "text" && session.roles.get(part.messageID) === "assistant") {
        const root = rootOf(part.sessionID);
        if (part.messageID !== root.refused) root.refused = undefined;
        session.texts.set(part.id, { message: part.messageID, text: part.text });
      }
      const status = part.type === "tool" && part.state?.status;
      if ((status !== "completed" && status !== "error") || session.tools.has(part.callID)) return;
      session.tools.add(part.callID);
      const result = { tool_name: part.tool, tool_input: part.state.input, tool_response: part.state.output ?? part.state.error };
      if (REFUSED.test(part.state.error ?? "")) refuse(part.sessionID, part.messageID);
      const isFailed = status === "error" || part.state.metadata?.exit > 0;
      tell(isFailed ? "PostToolUseFailure" : "PostToolUse", payload(part.sessionID, result));
    },
  };

  return {
    event: safely(async ({ event }) => on[event.type]?.(event.properties)),
    "command.execute.before": safely(async (input) => {
      command = { session: input.sessionID, text: `/${input.command} ${input.arguments ?? ""}`.trim() };
    }),
    "chat.message": safely(async (input, output) => {
      const session = await look(input.sessionID);
      if (session.parent) return;
      const typed = command?.session === session.id ? command.text : undefined;
      command = undefined;
      const own = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      session.model = (input.model ?? output.message?.model)?.modelID ?? session.model;
      session.agent = input.agent ?? session.agent;
      session.refused = undefined;
      session.texts.clear();
      session.tools.clear();
      session.roles.clear();
      const leave = started(session);
      session.isInTurn = true;
      // What was typed is stored with the command's text, so that it can be told from a prompt of the user's.
      if (typed && own[0]) own[0].metadata = { ...own[0].metadata, towline: typed };
      const prompt = typed ?? own.map((part) => part.text).join("\n");
      const answered = told("UserPromptSubmit", payload(session.id, { prompt, model: session.model }));
      leave();
      const { additionalContext } = await answered;
      const given = [await takeLost(session), additionalContext, ...takeWarnings(session)].filter(Boolean);
      const id = (at) => `prt_${Date.now().toString(16)}${at}${Math.random().toString(36).slice(2, 16)}`;
      const message = { id: output.message.id, sessionID: session.id };
      output.parts.push(...given.map((text, at) => hidden(message, id(at), text)));
    }),
    // After a compaction the client may go on by itself: then no prompt carries what was lost.
    "experimental.chat.messages.transform": safely(async (input, output) => {
      const prompt = output.messages.findLast(({ info }) => info.role === "user");
      const session = sessions.get(prompt?.info.sessionID);
      if (!session) return;
      const isSummary = ({ info }) => info.summary === true && info.time.completed && info.time.created >= session.compactingAt;
      if (output.messages.some(isSummary)) compacted(session);
      const text = await takeLost(session);
      if (!text) return;
      // Stored behind the prompt's other parts, so that later requests have it, too.
      const part = hidden(prompt.info, `${prompt.parts.at(-1).id}z`, text);
      prompt.parts.push(part);
      const path = { id: session.id, messageID: part.messageID, partID: part.id };
      const headers = { "Content-Type": "application/json" };
      await client._client.patch({ url: "/session/{id}/message/{messageID}/part/{partID}", path, headers, body: part });
    }),
    "chat.params": safely(async (input) => {
      if (input.agent !== "title") of(input.sessionID).window = input.model?.limit?.context;
    }),
    "tool.execute.before": async (input, output) => {
      const isFileTool = FILE_TOOLS.includes(input.tool);
      if (input.tool !== "task" && !isFileTool) return;
      const call = payload(input.sessionID, { tool_name: input.tool, tool_input: output.args });
      const reply = await safely(told)(isFileTool ? "PreFileUse" : "PreToolUse", call);
      if (reply?.permissionDecision === "deny") throw new Error(reply.permissionDecisionReason);
      if (reply?.additionalContext) of(input.sessionID).warnings.push(reply.additionalContext);
    },
    // The first chance to tell the model something about a tool; not called for one that fails or is refused.
    "tool.execute.after": safely(async (input, output) => {
      if (typeof output.output !== "string") return;
      output.output = [output.output, ...takeWarnings(of(input.sessionID))].join("\n\n");
    }),
    "experimental.session.compacting": safely(async (input) => {
      const session = of(input.sessionID);
      session.compactingAt = Date.now();
      session.lost = undefined;
      tell("PreCompact", payload(input.sessionID));
    }),
    "shell.env": safely(async (input, output) => {
      if (input.sessionID) output.env[`TOWLINE_${AGENT.toUpperCase()}_SESSION`] = rootOf(input.sessionID).id;
    }),
  };
};
