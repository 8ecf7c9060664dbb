// A client of Towline's documented routes for hosts without hooks. Needs nothing but Node.
// It never throws into the host: what cannot be told is dropped, and the editor goes on.
"use strict";

const { createHmac, randomBytes, timingSafeEqual } = require("node:crypto");
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");

/** Where Towline keeps its data. */
function dataFolder() {
  const shared = process.env.XDG_DATA_HOME || path.join(os.homedir(), ".local", "share");
  return process.env.TOWLINE_HOME || path.join(shared, "towline");
}

/** The address of the server that runs, and its secrets; null if there is none. */
function server() {
  try {
    const folder = path.join(dataFolder(), "serve");
    const { address } = JSON.parse(fs.readFileSync(path.join(folder, "address"), "utf8"));
    const [key, token, eventsToken] = ["key", "token", "events-token"].map((name) =>
      fs.readFileSync(path.join(folder, name), "utf8").trim(),
    );
    return address.startsWith("http://127.0.0.1:") ? { address, key, token, eventsToken } : null;
  } catch {
    return null;
  }
}

/** One connection for all requests: the listener that proves itself is the one that gets the token. */
class OneConnection extends http.Agent {
  constructor() {
    super({ keepAlive: true, maxSockets: 1 });
  }

  createConnection(options, made) {
    if (this.isUsed) return void made(new Error("the connection was lost"));
    this.isUsed = true;
    return super.createConnection(options, made);
  }
}

/** One request on a connection of the agent; the text of the answer, or null. Nobody waits longer than two seconds. */
function ask(agent, method, url, headers, body) {
  return new Promise((resolve) => {
    const request = http.request(url, { agent, method, headers, timeout: 2000 }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part) => (text += part));
      answer.on("end", () => resolve(answer.statusCode < 300 ? text : null));
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(null));
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Whether the listener has the user's key: a server that was killed may have left its port to another program. */
async function isOurs({ address, key }, agent) {
  const sign = (...parts) => createHmac("sha256", key).update(parts.join("\n")).digest();
  const nonce = randomBytes(32).toString("base64url");
  const proof = sign("client", address, nonce).toString("base64url");
  try {
    const said = JSON.parse(await ask(agent, "GET", `${address}/v1/proof?nonce=${nonce}&proof=${proof}`, {}));
    return timingSafeEqual(Buffer.from(said.proof, "base64url"), sign("server", address, said.server, nonce));
  } catch {
    return false;
  }
}

/** One request: a GET with the user's token, an event with the token that only writes. */
async function send(method, route, body) {
  const found = server();
  if (!found) return null;
  const agent = new OneConnection();
  try {
    if (!(await isOurs(found, agent))) return null;
    const token = method === "GET" ? found.token : found.eventsToken;
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    return await ask(agent, method, found.address + route, headers, body);
  } finally {
    agent.destroy();
  }
}

/** One session of the host, in the five stages. */
class Session {
  constructor(id, folder) {
    this.id = id;
    this.folder = folder;
    this.prompts = 0;
  }

  /** 1. It begins: what a new session should know, as text. */
  context() {
    return send("GET", `/api/context/inject?project=${encodeURIComponent(this.folder)}`);
  }

  /** 2. Something was asked. */
  asked(userPrompt) {
    this.prompts += 1;
    const body = { userPrompt, promptNumber: this.prompts, cwd: this.folder };
    return send("POST", `/sessions/${encodeURIComponent(this.id)}/init`, body);
  }

  /** 3. A tool was used. */
  used(tool_name, tool_input, tool_response) {
    return this.post("observations", { tool_name, tool_input, tool_response });
  }

  /** 4. The answer is there. */
  answered(last_user_message, last_assistant_message) {
    return this.post("summarize", { last_user_message, last_assistant_message });
  }

  /** 5. It is over. */
  over(reason = "exit") {
    return this.post("complete", { reason });
  }

  post(stage, body) {
    return send("POST", `/api/sessions/${stage}`, { claudeSessionId: this.id, cwd: this.folder, ...body });
  }
}

module.exports = { Session };
