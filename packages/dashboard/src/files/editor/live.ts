import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import type { Workspace } from "../../api/files.ts";
import { onRedial } from "../../api/follow.ts";
import { socketAddress } from "../../api/host.ts";
import { createStore, type Store } from "../../api/store.ts";
import { type Person, personIn, tones } from "./people.ts";

export interface LiveState {
  line: "connecting" | "open" | "lost" | "refused";
  /** Why we are not let in, or why an edit was not taken. */
  reason?: string;
  /** The whole document was here once. */
  ready: boolean;
  /** Something was typed that the host may not have. */
  unsent: boolean;
  people: readonly Person[];
}

/** The files of a workspace as they are being edited, for as long as somebody here looks at them. */
export interface Live {
  doc: Y.Doc;
  files: Y.Map<Y.Text>;
  awareness: WebsocketProvider["awareness"];
  state: Store<LiveState>;
  /** Tells the others which file we look at. */
  lookAt(path: string | undefined): void;
  close(): void;
}

export function openLive({ agency, agent, branch }: Workspace, user: string): Live {
  const doc = new Y.Doc();
  const root = socketAddress(`/agency/${encodeURIComponent(agency)}/agent/${encodeURIComponent(agent)}`);
  const provider = new WebsocketProvider(root, "yjs", doc, {
    params: branch === undefined ? {} : { branch },
    // What another tab has goes by the host like everything else, which knows who may do what.
    disableBc: true,
  });
  const { awareness } = provider;
  const state = createStore<LiveState>({ line: "connecting", ready: false, unsent: false, people: [] });
  const change = (part: Partial<LiveState>) => state.set({ ...state.get(), ...part });

  awareness.setLocalStateField("user", { name: user, color: tones[doc.clientID % tones.length] });

  provider.on("status", ({ status }) => {
    if (state.get().line === "refused" || status === "connected") return;
    change({ line: state.get().ready || provider.wsUnsuccessfulReconnects > 0 ? "lost" : "connecting" });
  });
  // Connected is who has all that the host has, and has sent what the host had not.
  provider.on("sync", (synced) => synced && change({ line: "open", ready: true, unsent: false }));
  provider.on("closed", ({ reason }) => change({ line: "refused", reason: reason || "The host does not let you in here." }));
  doc.on("update", (_, origin) => {
    if (origin !== provider && !provider.synced && !state.get().unsent) change({ unsent: true });
  });
  awareness.on("change", () => {
    const others = [...awareness.getStates()].filter(([id]) => id !== doc.clientID);
    change({ people: others.map(([id, shown]) => personIn(id, shown)) });
  });

  const stopRedialling = onRedial(() => {
    if (state.get().line === "refused") return;
    provider.disconnect();
    provider.connect();
  });
  const onLeave = (event: BeforeUnloadEvent) => {
    if (state.get().unsent) event.preventDefault();
  };
  window.addEventListener("beforeunload", onLeave);

  return {
    doc,
    files: doc.getMap<Y.Text>("files"),
    awareness,
    state,
    lookAt: (path) => awareness.setLocalState({ ...awareness.getLocalState(), path, cursor: null }),
    close() {
      window.removeEventListener("beforeunload", onLeave);
      stopRedialling();
      provider.destroy();
      awareness.destroy();
      doc.destroy();
    },
  };
}
