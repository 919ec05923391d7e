import {
  type CommandResult,
  errorFromBody,
  fail,
  type Linux,
  processListSchema,
  type ProcessOutput,
  processOutputSchema,
  processSchema,
  ToolError,
} from "@thinkery/sdk";
import {
  type CommandUpdate,
  commandUpdateSchema,
  decodeFileTransfers,
  type FileTransfer,
  neededFilesSchema,
  workingCopyNotesSchema,
  type WorkingCopyPlan,
} from "@thinkery/sdk/internal";
import type { Service } from "../host/host.ts";

export interface LinuxEnv {
  HOST?: Service;
}

/** The copy of the agent's workspace that its commands work in. */
export interface LinuxWorkingCopy {
  /** What was changed in it, see `collectedSchema`. No file larger than this is told. */
  collect(largest: number): AsyncGenerator<FileTransfer>;
  /** Says what it should be; the answer is what the daemon has to be given for that. */
  plan(plan: WorkingCopyPlan): Promise<string[]>;
  /** Gives it that; the answer is what could not be put there, in words. */
  put(parcels: Uint8Array<ArrayBuffer>): Promise<string[]>;
  /** What came of files when nobody could be told. */
  pendingNotes: string[];
  /** One exchange of files at a time. */
  runExclusive<T>(work: () => Promise<T>): Promise<T>;
}

/** The door to the daemon's Linux sandbox, for one agent. */
export interface AgentLinux extends Linux {
  workingCopy: LinuxWorkingCopy;
  read(id: string, after?: number): Promise<ProcessOutput>;
  /** The agent is gone: ends what it runs and removes its folder. Without a host there is nothing to forget. */
  forget(): Promise<void>;
}

/** What the daemon tells of one command, its output included, is no longer than this. */
const maxLineChars = 16 * 1024 * 1024;

/** `agent` is `agency~agent`. */
export function openLinux({ HOST }: LinuxEnv, agent: string): AgentLinux {
  const at = (path: string, query: Record<string, string> = {}) =>
    `http://host/linux/${path}?${new URLSearchParams({ agent, ...query })}`;

  let last: Promise<unknown> = Promise.resolve();

  async function ask(
    url: string,
    method: "GET" | "POST",
    body?: object | Uint8Array<ArrayBuffer>,
    signal?: AbortSignal,
  ): Promise<Response> {
    if (!HOST)
      throw new ToolError(
        "no_sandbox",
        "There is no Linux sandbox here: it needs a host of one's own, and this one runs without.",
      );
    const answer = await HOST.fetch(url, {
      method,
      ...(body ? { body: body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) } : {}),
      ...(signal ? { signal } : {}),
    });
    if (!answer.ok) throw await toToolError(answer);
    return answer;
  }

  const workingCopy: LinuxWorkingCopy = {
    async *collect(largest) {
      const answer = await ask(at("files/collect", { largest: String(largest) }), "POST");
      if (answer.body) yield* decodeFileTransfers(answer.body, largest);
    },
    async plan(plan) {
      return neededFilesSchema.parse(await (await ask(at("files/plan"), "POST", plan)).json()).needed;
    },
    async put(parcels) {
      return workingCopyNotesSchema.parse(await (await ask(at("files/put"), "POST", parcels)).json()).notes;
    },
    pendingNotes: [],
    runExclusive(work) {
      const done = last.then(work, work);
      last = done;
      return done;
    },
  };

  return {
    workingCopy,
    async run(command, { timeoutMs, signal, onOutput }) {
      const order = { agent, command, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
      // Whoever stops reading has ended the command: the daemon sees the connection close.
      const answer = await ask(at("run"), "POST", order, signal);
      for await (const news of parseUpdates(answer)) {
        if ("result" in news) return news.result as CommandResult;
        onOutput(news.output);
      }
      throw new ToolError(
        "sandbox_lost",
        "The host was lost while the command ran, and the command with it. What it had done by then is done.",
      );
    },
    async start(command) {
      return processSchema.parse(await (await ask(at("start"), "POST", { agent, command })).json());
    },
    async list() {
      return processListSchema.parse(await (await ask(at("processes"), "GET")).json()).processes;
    },
    async read(id, after) {
      const from: Record<string, string> = after === undefined ? {} : { after: String(after) };
      return processOutputSchema.parse(await (await ask(at("process", { id, ...from }), "GET")).json());
    },
    async stop(id) {
      return processSchema.parse(await (await ask(at("stop", { id }), "POST")).json());
    },
    async forget() {
      if (HOST) await (await ask(at("forget"), "POST")).text();
    },
  };
}

async function* parseUpdates(answer: Response): AsyncGenerator<CommandUpdate> {
  if (!answer.body) return;
  let rest = "";
  for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxLineChars) throw new Error("The daemon said more of a command than it should.");
    for (const line of lines) yield commandUpdateSchema.parse(JSON.parse(line));
  }
}

/** In the words of the daemon, where it has some. */
async function toToolError(answer: Response): Promise<Error> {
  const known = errorFromBody(await answer.json().catch(() => undefined));
  if (known?.code === "unavailable") return new ToolError("no_sandbox", known.message);
  if (known?.code === "conflict" || known?.code === "too_large") return new ToolError("limit", known.message);
  if (known?.code === "not_found" || known?.code === "bad_request") return known;
  return fail("unavailable", "The daemon does not answer its own Worker. Restart the host.");
}
