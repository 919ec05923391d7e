import type { Message } from "@thinkery/sdk";
import type { Sender, WireMessage } from "@thinkery/sdk/agent-host";
import type { AgentStore } from "../../store/agent-store.ts";
import type { JournalRequest } from "../../store/code/journal.ts";
import type { Driver, DriverDefinition, DriverHost, TurnContext } from "../driver.ts";
import { CodeError } from "./code-error.ts";
import type { CodeScope } from "./code-scope.ts";
import { CodeSession } from "./code-session.ts";
import type { CodeVersion } from "./code-version.ts";
import { ConversationWindow, toWire, toWireAttachments } from "./conversation-window.ts";
import { createBasePayload } from "./payload.ts";
import { getReplyId, parseRequestNumber, Replies } from "./replies.ts";
import { sendRequest } from "./send-request.ts";
import { ToolBatches } from "./tool-batches.ts";

/**
 * Agents that users write: their code handles messages in a sandbox, everything else is here. A turn that was
 * interrupted, by a crash or because it waits for a person, runs the code again; the journal returns to it what its
 * calls have returned before, so that no effect happens twice.
 */
export const isolateDriver: DriverDefinition = { name: "isolate", create: (host) => new IsolateDriver(host) };

class IsolateDriver implements Driver {
  readonly #host: DriverHost;

  constructor(host: DriverHost) {
    this.#host = host;
  }

  async run(turn: TurnContext): Promise<"completed" | "waiting"> {
    const { code, store } = this.#host;
    if (await this.#isWaiting(turn)) return "waiting";
    const { journal } = code.store.open();
    const pinned = journal.getVersion(turn.runId);
    const version = await code.resolve(pinned);
    // Another version may have taken over since the turn began. It goes on with its own.
    if (pinned === undefined) await code.initialize(version, turn.signal);
    journal.pinVersion(turn.runId, version.version);
    for (;;) {
      await turn.beginStep();
      const open = journal.findOpenRequest(turn.runId);
      const messages = open ? undefined : this.#takeMessages(turn.runId, version);
      const request = open ?? (messages && journal.openRequest(turn.runId, messages));
      if (request && (await this.#handle(turn, version, request)) === "waiting") {
        // It may have been answered while the code ended.
        if (await this.#isWaiting(turn)) return "waiting";
        continue;
      }
      // Messages may have joined the turn meanwhile.
      if (!turn.hasJoined() && !this.#takeMessages(turn.runId, version)) break;
    }
    const replies = store.messages
      .listByTurn(turn.runId)
      .filter(({ id }) => parseRequestNumber(id, turn.runId) !== undefined);
    turn.setResult(joinReplies(replies));
    journal.forget(turn.runId);
    return "completed";
  }

  /** Executes the calls that can be, and returns whether others wait. */
  async #isWaiting(turn: TurnContext): Promise<boolean> {
    const pending = await turn.listPendingCalls();
    if (pending.length > 0) await turn.executeCalls(pending);
    return turn.isWaiting();
  }

  /** Returns the ids of the next messages to handle. */
  #takeMessages(runId: string, { description }: CodeVersion): string[] | undefined {
    const { code, store } = this.#host;
    const handled = code.store.journal.listHandled(runId);
    const waiting = store.messages.listByTurn(runId).filter(isMessage);
    const next = waiting.filter(({ id }) => !handled.has(id)).map(({ id }) => id);
    if (next.length === 0) return undefined;
    // Messages that were sent together are one: those before the last are what was said before it.
    const isFirst = handled.size === 0;
    return isFirst || description.batch ? next : next.slice(0, 1);
  }

  async #handle(turn: TurnContext, version: CodeVersion, request: JournalRequest): Promise<"done" | "waiting"> {
    const { code, store } = this.#host;
    const { journal } = code.store;
    const interrupt = new AbortController();
    const signal = AbortSignal.any([turn.signal, interrupt.signal]);
    const conversation = new ConversationWindow(store, (hash) => turn.conversation.readBlob(hash));
    const { promise: waiting, resolve } = Promise.withResolvers<"waiting">();
    const accesses: { close(): Promise<void> }[] = [];
    let replies: Replies | undefined;
    let batches: ToolBatches | undefined;
    const open = () => {
      const access = turn.openCode();
      accesses.push(access);
      const opened = (replies = new Replies(turn.replies, journal, request, version.description.concurrency === 1));
      const calls = (batches = new ToolBatches({
        turn,
        store,
        journal,
        request,
        replies: opened,
        onWaiting() {
          interrupt.abort(new Error("The turn waits for the answer to a call."));
          resolve("waiting");
        },
      }));
      const scope: CodeScope = {
        signal,
        listTools: () => turn.tools.definitions(),
        streamModel: (input, ending) => access.streamModel(input, ending),
        callCapability: (name, json) => access.callCapability(name, json),
        isIdempotent: (name) => access.isIdempotent(name),
        executeTools: async (input, key) => calls.execute(input, key),
        noteActivity: () => access.noteActivity(),
      };
      const redact = (text: string) => code.redact(text);
      return new CodeSession({
        version,
        scope,
        store: code.store,
        conversation,
        redact,
        request,
        replies: opened,
        runId: turn.runId,
      });
    };
    const sent = sendRequest(code, {
      route: "message",
      version,
      payload: this.#createPayload(turn, version, request, conversation),
      signal,
      runId: turn.runId,
      open,
      async onRestart() {
        turn.replies.discard("The process of the agent's code was lost.");
        // Run again, the code gets the results of calls that are still in progress.
        await Promise.all([batches?.close(), accesses.at(-1)?.close()]);
      },
      commit() {
        // Messages of the channel stay open until the handler ends.
        replies?.finish();
        journal.closeRequest(request);
      },
    });
    try {
      const ended = await Promise.race([sent.then(() => "done" as const), waiting]);
      if (ended === "waiting") await sent.catch(() => {});
      return ended;
    } catch (error) {
      // What it said before it failed stays in the conversation.
      if (!turn.signal.aborted) replies?.finish();
      throw error;
    } finally {
      await Promise.all(accesses.map((access) => access.close()));
    }
  }

  #createPayload(
    turn: TurnContext,
    version: CodeVersion,
    request: JournalRequest,
    conversation: ConversationWindow,
  ): object {
    const { code, store } = this.#host;
    const { history, batch } = version.description;
    const sender = readSender(store, turn.runId, code.owner);
    const messages = request.messages.flatMap((id) => store.messages.get(id) ?? []);
    const current = messages.at(-1);
    if (!current) throw new CodeError("The message that the agent was to handle is gone.");
    const handled = batch ? messages : [current];
    const before = handled[0]?.seq ?? 0;
    const window = {
      ...(history.maxMessages === undefined ? {} : { maxMessages: history.maxMessages }),
      ...(history.maxChars === undefined ? {} : { maxChars: history.maxChars }),
    };
    // A message that joined the turn comes before the replies to those that joined with it.
    const isEarlierReply = (id: string) => (parseRequestNumber(id, turn.runId) ?? Infinity) < request.number;
    const { messages: earlier, hasEarlier } = conversation.read(
      before,
      window,
      request.number > 1 ? isEarlierReply : undefined,
    );
    const toIncoming = (message: Message): WireMessage => ({
      id: message.id,
      content: message.content,
      attachments: toWireAttachments(message.attachments),
      sender,
      timestamp: toWire(message).timestamp,
    });
    return {
      ...createBasePayload(code, version, turn.tools.definitions()),
      message: toIncoming(current),
      messages: handled.map(toIncoming),
      conversation: earlier,
      hasEarlier,
    };
  }
}

/** Returns who sent the message that began the turn. */
function readSender({ log, turns }: AgentStore, runId: string, owner: string): Sender {
  const [event] = log.read((turns.get(runId)?.number ?? 1) - 1, 1);
  const { user = owner, context = {} } = event?.type === "request.accepted" ? event.data.from : {};
  const isHost = "schedule" in context || "webhook" in context;
  return { id: user, name: user, type: isHost ? "host" : "user" };
}

/** Whether a message is to be handled: not a notice of the host, and not one that is still waiting. */
function isMessage({ role, status, seq, notice }: Message): boolean {
  return role === "user" && status === "complete" && seq !== undefined && !notice;
}

/** Returns all that the code said, each reply once. */
function joinReplies(messages: readonly Message[]): string {
  const replies = new Map<string, string>();
  for (const { id, role, status, content } of messages) {
    if (role !== "assistant" || status !== "complete" || content === "") continue;
    const reply = getReplyId(id);
    replies.set(reply, (replies.get(reply) ?? "") + content);
  }
  return [...replies.values()].join("\n\n");
}
