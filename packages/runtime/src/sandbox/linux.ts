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

/** The copy of the agent's workspace in its Linux sandbox. */
export interface LinuxWorkingCopy {
  /** Returns the changes made in it, see `collectedEntrySchema`, except to files larger than `maxFileBytes`. */
  collect(maxFileBytes: number): AsyncGenerator<FileTransfer>;
  /** Tells the daemon what the copy should become. Returns the files that the daemon needs for that. */
  plan(plan: WorkingCopyPlan): Promise<string[]>;
  /** Sends these files. Returns notes on those that could not be written. */
  put(transfers: Uint8Array<ArrayBuffer>): Promise<string[]>;
  /** Notes that could not be delivered yet. */
  pendingNotes: string[];
  /** Runs one exchange of files at a time. */
  runExclusive<T>(work: () => Promise<T>): Promise<T>;
}

/** Access to the daemon's Linux sandbox for one agent. */
export interface AgentLinux extends Linux {
  workingCopy: LinuxWorkingCopy;
  read(id: string, after?: number): Promise<ProcessOutput>;
  /** Called when the agent is deleted: ends its processes and removes its folder. Does nothing without a host. */
  forget(): Promise<void>;
}

/** Length of one update from the daemon, which may contain a command's whole output. */
const maxLineChars = 16 * 1024 * 1024;

/** `agent` is `agency~agent`. */
export function openLinux({ HOST }: LinuxEnv, agent: string): AgentLinux {
  const at = (path: string, query: Record<string, string> = {}) =>
    `http://host/linux/${path}?${new URLSearchParams({ agent, ...query })}`;

  let last: Promise<unknown> = Promise.resolve();

  async function request(
    url: string,
    method: "GET" | "POST",
    body?: object | Uint8Array<ArrayBuffer>,
    signal?: AbortSignal,
  ): Promise<Response> {
    if (!HOST)
      throw new ToolError("no_sandbox", "No Linux sandbox is available: it needs a host, and there is none here.");
    const response = await HOST.fetch(url, {
      method,
      ...(body ? { body: body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) } : {}),
      ...(signal ? { signal } : {}),
    });
    if (!response.ok) throw await toToolError(response);
    return response;
  }

  const workingCopy: LinuxWorkingCopy = {
    async *collect(maxFileBytes) {
      const response = await request(at("files/collect", { largest: String(maxFileBytes) }), "POST");
      if (response.body) yield* decodeFileTransfers(response.body, maxFileBytes);
    },
    async plan(plan) {
      return neededFilesSchema.parse(await (await request(at("files/plan"), "POST", plan)).json()).needed;
    },
    async put(transfers) {
      return workingCopyNotesSchema.parse(await (await request(at("files/put"), "POST", transfers)).json()).notes;
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
      const body = { agent, command, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
      // To stop reading ends the command: the daemon sees the connection close.
      const response = await request(at("run"), "POST", body, signal);
      for await (const update of parseUpdates(response)) {
        if ("result" in update) return update.result as CommandResult;
        onOutput(update.output);
      }
      throw new ToolError(
        "sandbox_lost",
        "The connection to the host was lost, and the command with it. Effects that it already had are not undone.",
      );
    },
    async start(command) {
      return processSchema.parse(await (await request(at("start"), "POST", { agent, command })).json());
    },
    async list() {
      return processListSchema.parse(await (await request(at("processes"), "GET")).json()).processes;
    },
    async read(id, after) {
      const from: Record<string, string> = after === undefined ? {} : { after: String(after) };
      return processOutputSchema.parse(await (await request(at("process", { id, ...from }), "GET")).json());
    },
    async stop(id) {
      return processSchema.parse(await (await request(at("stop", { id }), "POST")).json());
    },
    async forget() {
      if (HOST) await (await request(at("forget"), "POST")).text();
    },
  };
}

async function* parseUpdates({ body }: Response): AsyncGenerator<CommandUpdate> {
  if (!body) return;
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxLineChars) throw new Error("The daemon sent an update that is too long.");
    for (const line of lines) yield commandUpdateSchema.parse(JSON.parse(line));
  }
}

/** Converts an error response, keeping the daemon's message if it has one. */
async function toToolError(response: Response): Promise<Error> {
  const known = errorFromBody(await response.json().catch(() => undefined));
  if (known?.code === "unavailable") return new ToolError("no_sandbox", known.message);
  if (known?.code === "conflict" || known?.code === "too_large") return new ToolError("limit", known.message);
  if (known?.code === "not_found" || known?.code === "bad_request") return known;
  return fail("unavailable", "The daemon returned an unexpected error. Restart the host.");
}
