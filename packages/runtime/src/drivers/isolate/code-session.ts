import { type AgentCapability, agentCapabilities, createValidationError } from "@thinkery/sdk";
import type { HostCallName, WireModelPart } from "@thinkery/sdk/agent-host";
import { isDeeperThan } from "../../sandbox/json-depth.ts";
import type { CodeStore } from "../../store/code/code-store.ts";
import type { JournalRequest } from "../../store/code/journal.ts";
import { CallJournal } from "./call-journal.ts";
import type { CodeScope } from "./code-scope.ts";
import type { CodeVersion } from "./code-version.ts";
import type { ConversationWindow } from "./conversation-window.ts";
import { type HostCallHandlers, hostCallSchemas, maxJsonDepth } from "./host-call-schemas.ts";
import { LogBuffer } from "./log-buffer.ts";
import { ModelStreams } from "./model-streams.ts";
import type { Replies } from "./replies.ts";
import { StorageDraft } from "./storage-draft.ts";

/** Calls that the tools of the same name answer, by what they need to be granted. Tools have no other way in. */
const capabilityCalls: Partial<Record<AgentCapability, readonly string[]>> = {
  fs: ["fs.readFile", "fs.writeFile", "fs.listFiles", "fs.deleteFile", "fs.moveFile"],
  bash: ["bash"],
  fetch: ["fetch"],
};

interface CodeSessionOptions {
  version: CodeVersion;
  scope: CodeScope;
  store: CodeStore;
  conversation: ConversationWindow;
  redact(text: string): string;
  /** Where it is written what the request does, if it may be run again. */
  request?: JournalRequest;
  /** Only requests that handle messages have replies. */
  replies?: Replies;
  /** The turn, for the log. */
  runId?: string;
}

/**
 * What the code of an agent can reach while it handles one request. Everything comes through `call`, as JSON; what it
 * was not granted is refused here.
 */
export class CodeSession {
  readonly storage: StorageDraft;
  readonly log: LogBuffer;
  readonly #options: CodeSessionOptions;
  readonly #streams: ModelStreams;
  readonly #journal: CallJournal;
  /** The text of messages that were begun with `channel.send`. */
  readonly #channelTexts = new Map<string, string>();
  #hostCalls = 0;
  #hasEffects = false;
  #lastError: unknown;
  #isClosed = false;

  constructor(options: CodeSessionOptions) {
    const { store, scope, conversation, version, request, runId, redact } = options;
    this.#options = options;
    this.storage = new StorageDraft(store.values);
    this.log = new LogBuffer({ store, redact, version: version.version, ...(runId ? { runId } : {}), request });
    this.#journal = new CallJournal(store.journal, request);
    this.#streams = new ModelStreams({
      scope,
      readBlob: (hash) => conversation.readBlob(hash),
      onComplete: (key, parts) => this.#journal.complete(key, JSON.stringify(parts)),
    });
  }

  get figures(): { hostCalls: number; modelCalls: number } {
    return { hostCalls: this.#hostCalls, modelCalls: this.#streams.count };
  }

  /** Whether it did something that would happen again if the request was repeated without a journal. */
  get hasEffects(): boolean {
    return this.#hasEffects;
  }

  /** Handles a call of the code. Input and output are JSON; an empty output is undefined. */
  async call(name: string, json: string): Promise<string> {
    // Interrupted code may still say what it leaves undone.
    this.#checkOpen(name === "log");
    this.#hostCalls++;
    this.#options.scope.noteActivity();
    this.#checkGranted(name);
    try {
      return await (isHostCall(name) ? this.#handle(name, json) : this.#callCapability(name, json));
    } catch (error) {
      this.#lastError = error;
      throw error;
    }
  }

  /** The last error of a call, as it was before it went to the code: it may say more than what the code throws. */
  get lastError(): unknown {
    return this.#lastError;
  }

  close(): void {
    this.#isClosed = true;
    this.#streams.closeAll();
    this.log.close();
  }

  async #handle<N extends HostCallName>(name: N, json: string): Promise<string> {
    if (isDeeperThan(json, maxJsonDepth))
      throw new Error(`The input of ${name} is nested more than ${maxJsonDepth} levels deep.`);
    const parsed = hostCallSchemas[name].safeParse(JSON.parse(json));
    if (!parsed.success) throw new Error(createValidationError(`call ${name}`, parsed.error).message);
    const handle = this.#handlers[name] as (input: unknown, json: string) => unknown;
    const output = await handle(parsed.data, json);
    return output === undefined ? "" : JSON.stringify(output);
  }

  readonly #handlers: HostCallHandlers = {
    reply: ({ operations }) => {
      const replies = this.#getReplies();
      for (const operation of operations) replies.apply(operation);
    },
    "model.open": (input, json) => {
      const key = this.#journal.begin("model", json);
      const recorded = this.#journal.find(key);
      if (recorded !== undefined) return this.#streams.replay(JSON.parse(recorded) as WireModelPart[]);
      this.#hasEffects = true;
      return this.#streams.open(input, key);
    },
    "model.read": ({ id }) => this.#streams.read(id),
    "model.close": ({ id }) => this.#streams.close(id),
    "tools.execute": ({ calls }, json) => this.#executeTools(calls, json),
    "channel.callTool": async (call, json) => {
      const { results } = await this.#executeTools([call], json);
      const [result] = results;
      if (!result) throw new Error("The call has no result.");
      return result;
    },
    "history.read": ({ before, limit }) => this.#options.conversation.readBefore(before, limit),
    "attachment.read": ({ id }) => this.#options.conversation.readAttachment(id),
    "storage.get": ({ key }) => this.storage.get(key),
    "storage.set": ({ key, value }) => this.storage.set(key, value as never),
    "storage.delete": ({ key }) => this.storage.delete(key),
    "storage.list": (range) => this.storage.list(range),
    "channel.send": ({ content }) => {
      const id = `channel-${this.#channelTexts.size}`;
      this.#getReplies().write(id, content);
      this.#channelTexts.set(id, content);
      return { id };
    },
    "channel.update": ({ id, text }) => {
      const former = this.#getChannelText(id);
      if (!text.startsWith(former)) throw new Error("The text of a message can only be continued.");
      this.#getReplies().write(id, text.slice(former.length));
      this.#channelTexts.set(id, text);
    },
    "channel.complete": ({ id }) => {
      this.#getChannelText(id);
      this.#getReplies().end(id);
    },
    log: (line) => this.log.add(line),
  };

  async #executeTools(calls: readonly { id?: string | undefined; name: string; input: unknown }[], json: string) {
    this.#hasEffects = true;
    const results = await this.#options.scope.executeTools(calls, this.#journal.begin("tools", json));
    return { results };
  }

  /** A file operation, a command or a request to the network. */
  async #callCapability(name: string, json: string): Promise<string> {
    const { scope } = this.#options;
    const capability = name.replace(/^fs\./, "");
    const key = this.#journal.begin(capability, json);
    const recorded = this.#journal.find(key);
    if (recorded !== undefined) return recorded;
    if (!scope.isIdempotent(capability)) {
      this.#hasEffects = true;
      if (this.#journal.wasBegun(key))
        throw new Error(
          `The host stopped while ${capability} was running. Whether it took effect is unknown. Check before you do it again.`,
        );
      this.#journal.note(key);
    }
    const output = await scope.callCapability(capability, json);
    if (!this.#isClosed) this.#journal.complete(key, output);
    return output;
  }

  #getReplies(): Replies {
    const { replies } = this.#options;
    if (!replies) throw new Error("There is no conversation here: only onMessage can reply.");
    return replies;
  }

  #getChannelText(id: string): string {
    const text = this.#channelTexts.get(id);
    if (text === undefined) throw new Error(`There is no message “${id}” of this request.`);
    return text;
  }

  #checkOpen(isAllowedAfterInterrupt = false): void {
    if (this.#isClosed) throw new Error("The request is over.");
    if (!isAllowedAfterInterrupt) this.#options.scope.signal.throwIfAborted();
  }

  #checkGranted(name: string): void {
    const [prefix = ""] = name.split(".");
    const capability = (prefix === "model" ? "ai" : prefix) as AgentCapability;
    const needsGrant = agentCapabilities.includes(capability);
    const isCapabilityCall = needsGrant && capabilityCalls[capability]?.includes(name);
    if (!isHostCall(name) && !isCapabilityCall) throw new Error(`There is no host call “${name.slice(0, 100)}”.`);
    if (!needsGrant) return;
    if (!this.#options.version.capabilities.includes(capability))
      throw new Error(
        `The agent was not granted “${capability}”. Add it to \`thinkery.capabilities\` in package.json and deploy again.`,
      );
  }
}

function isHostCall(name: string): name is HostCallName {
  return Object.hasOwn(hostCallSchemas, name);
}
