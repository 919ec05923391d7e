import { createAi } from "./ai.ts";
import { toConversationMessage, toIncomingMessage } from "./attachments.ts";
import { createChannel } from "./channel.ts";
import type { AgentContext, Data, LifecycleContext } from "./definition.ts";
import { createFetch } from "./fetch.ts";
import { type CreateFunction, createFileSystem } from "./file-system.ts";
import type { HostClient } from "./host-client.ts";
import { createLog } from "./log.ts";
import { Outbox } from "./outbox.ts";
import { Reply } from "./reply.ts";
import type { StateDraft } from "./state.ts";
import { createStorage } from "./storage.ts";
import { createToolList } from "./tool-list.ts";
import type { LifecyclePayload, MessagePayload } from "./wire.ts";

/** Creates what every handler gets. */
export function createLifecycleContext(
  payload: LifecyclePayload,
  host: HostClient,
  state: StateDraft,
): LifecycleContext<Data, Data> {
  const createFunction: CreateFunction = (capability, toInput, toOutput) => {
    const name = capability === "bash" ? capability : `fs.${capability}`;
    return async (...args) => toOutput(await host.callByName(name, toInput(...args)));
  };
  return {
    agent: payload.agent,
    settings: Object.freeze({ ...payload.settings }),
    get state() {
      return state.current;
    },
    setState: (changes) => state.apply(changes),
    storage: createStorage(host),
    tools: createToolList(payload.tools, host),
    ai: createAi(host, payload.settings),
    ...createFileSystem(createFunction),
    fetch: createFetch(() => (input) => host.callByName("fetch", input)),
    signal: host.signal,
    log: createLog(host),
  };
}

export interface MessageContext {
  ctx: AgentContext<Data, Data>;
  /** Ends open replies and waits until the host has everything. */
  finish(): Promise<void>;
}

/** Creates what the handler of messages gets. */
export function createMessageContext(payload: MessagePayload, host: HostClient, state: StateDraft): MessageContext {
  const outbox = new Outbox(host);
  const replies: Reply[] = [];
  const reply = () => {
    const created = new Reply(outbox, host.signal);
    replies.push(created);
    return created;
  };
  const messages = payload.messages.map((message) => toIncomingMessage(message, host));
  const conversation = payload.conversation.map((message) => toConversationMessage(message, host));
  // Getters, such as that of the state, would be evaluated by a spread.
  const ctx = Object.defineProperties(
    {
      message: messages.find(({ id }) => id === payload.message.id) ?? toIncomingMessage(payload.message, host),
      messages,
      conversation,
      history: {
        hasEarlier: payload.hasEarlier,
        read: async ({ before = conversation[0]?.id, limit }: { before?: string; limit?: number } = {}) => {
          const input = { ...(before === undefined ? {} : { before }), ...(limit === undefined ? {} : { limit }) };
          const page = await host.call("history.read", input);
          return page.messages.map((message) => toConversationMessage(message, host));
        },
      },
      reply,
      async send(content: string) {
        const created = reply();
        void created.write(content);
        await created.end();
      },
      channel: createChannel(host, outbox),
    },
    Object.getOwnPropertyDescriptors(createLifecycleContext(payload, host, state)),
  ) as unknown as AgentContext<Data, Data>;
  return {
    ctx,
    async finish() {
      for (const open of replies) open.close();
      await outbox.flush();
    },
  };
}
