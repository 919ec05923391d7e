import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import type { Conversation } from "./driver.ts";

/** Opens the stored conversation for a driver. */
export function openConversation({ messages, facts }: AgentStore, blobs: Blobs): Conversation {
  return {
    readAfter: (position) => messages.listTranscript(position),
    readBlob: (hash) => blobs.get(hash),
    getCompaction: () => facts.getCompaction(),
    getLastCount() {
      const lastSize = messages.getLastSize();
      const { at: position = 0, after = 0 } = facts.getCompaction() ?? {};
      return position > (lastSize?.position ?? 0) ? { position, input: after, tokens: after } : lastSize;
    },
  };
}
