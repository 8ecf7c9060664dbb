// A client of Towline's documented routes for hosts without hooks. Needs nothing but Node.
// It never throws into the host: what cannot be told is dropped, and the editor goes on.
"use strict";

const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");

/** Where Towline keeps its data. */
function dataFolder() {
  const shared = process.env.XDG_DATA_HOME || path.join(os.homedir(), ".local", "share");
  return process.env.TOWLINE_HOME || path.join(shared, "towline");
}

/** The server that runs, and the token for events; null if there is none. */
function server() {
  try {
    const folder = path.join(dataFolder(), "serve");
    const { address } = JSON.parse(fs.readFileSync(path.join(folder, "address"), "utf8"));
    const token = fs.readFileSync(path.join(folder, "events-token"), "utf8").trim();
    return address.startsWith("http://127.0.0.1:") ? { address, token } : null;
  } catch {
    return null;
  }
}

/** One request; the text of the answer, or null. Nobody waits longer than two seconds. */
function send(method, route, body) {
  const found = server();
  if (!found) return Promise.resolve(null);
  return new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${found.token}`, "Content-Type": "application/json" };
    const request = http.request(found.address + route, { method, headers, timeout: 2000 }, (answer) => {
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
