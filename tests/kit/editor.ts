import { WebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { waitUntil } from "./wait-until.ts";

interface EditorOptions {
  url: string;
  token: string;
  /** The agent's path. */
  at: string;
  branch?: string;
  /** An existing document to continue with. */
  doc?: Y.Doc;
}

/** A user who edits an agent's files live, with the real Yjs client. */
export interface Editor {
  doc: Y.Doc;
  provider: WebsocketProvider;
  /** Closes with a code that tells the client not to reconnect. */
  closed: { code: number; reason: string }[];
  text(path: string): Y.Text;
  read(path: string): string | undefined;
  readAll(): Record<string, string>;
  waitForSync(): Promise<void>;
  stop(): void;
}

export function openEditor({ url, token, at, branch, doc = new Y.Doc() }: EditorOptions): Editor {
  const headers = { authorization: `Bearer ${token}` };
  class Socket extends WebSocket {
    constructor(address: string) {
      super(address, { headers });
    }
  }
  const provider = new WebsocketProvider(`${url.replace("http", "ws")}${at}`, "yjs", doc, {
    WebSocketPolyfill: Socket as unknown as typeof globalThis.WebSocket,
    disableBc: true,
    maxBackoffTime: 100,
    params: branch ? { branch } : {},
  });
  const closed: Editor["closed"] = [];
  provider.on("closed", ({ code, reason }) => void closed.push({ code, reason }));
  const files = doc.getMap<Y.Text>("files");
  return {
    doc,
    provider,
    closed,
    text(path) {
      const text = files.get(path);
      if (!text) throw new Error(`there is no ${path}`);
      return text;
    },
    read: (path) => files.get(path)?.toString(),
    readAll: () => files.toJSON() as Record<string, string>,
    waitForSync: async () => void (await waitUntil("the editor to be synced", () => provider.synced)),
    stop() {
      provider.destroy();
      doc.destroy();
    },
  };
}
