import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import type { Workspace } from "../../api/files.ts";
import { onReconnect } from "../../api/follow.ts";
import { buildSocketUrl } from "../../api/host.ts";
import { createStore, type Store } from "../../api/store.ts";
import { type Person, parsePerson, personColors } from "./people.ts";
import { trackUnconfirmedEdits } from "./track-unconfirmed-edits.ts";

export interface LiveState {
  line: "connecting" | "open" | "lost" | "refused";
  /** Why we are not let in, or why an edit was not taken; `gone` where there is no such branch any more. */
  refusal?: { reason: string; gone: boolean };
  /** The whole document was here once. */
  ready: boolean;
  /** Something was typed that the host has not said it has; `late` when it should have by now. */
  unsent: boolean;
  late: boolean;
  people: readonly Person[];
}

/** The files of a workspace as they are being edited, for as long as somebody here looks at them. */
export interface LiveSession {
  doc: Y.Doc;
  files: Y.Map<Y.Text>;
  awareness: WebsocketProvider["awareness"];
  state: Store<LiveState>;
  /** Tells the others which file we look at. */
  lookAt(path: string | undefined): void;
  close(): void;
}

/** An answer that takes longer than this is worth a word. */
const lateAfterMs = 2_000;
/** The close code for a branch that is gone. */
const branchGoneCode = 4404;

export function openLiveSession({ agency, agent, branch }: Workspace, user: string): LiveSession {
  const doc = new Y.Doc();
  const root = buildSocketUrl(`/agency/${encodeURIComponent(agency)}/agent/${encodeURIComponent(agent)}`);
  const provider = new WebsocketProvider(root, "yjs", doc, {
    params: branch === undefined ? {} : { branch },
    // What another tab has goes by the host like everything else, which knows who may do what.
    disableBc: true,
  });
  const { awareness } = provider;
  const state = createStore<LiveState>({ line: "connecting", ready: false, unsent: false, late: false, people: [] });
  const change = (part: Partial<LiveState>) => state.set({ ...state.get(), ...part });

  awareness.setLocalStateField("user", { name: user, color: personColors[doc.clientID % personColors.length] });

  provider.on("status", ({ status }) => {
    if (state.get().line === "refused" || status === "connected") return;
    change({ line: state.get().ready || provider.wsUnsuccessfulReconnects > 0 ? "lost" : "connecting" });
  });
  provider.on("sync", (synced) => synced && change({ line: "open", ready: true }));
  provider.on("closed", ({ code, reason }) =>
    change({
      line: "refused",
      refusal: { reason: reason || "The host does not let you in here.", gone: code === branchGoneCode },
    }),
  );
  let lateTimer: ReturnType<typeof setTimeout> | undefined;
  const stopConfirming = trackUnconfirmedEdits(provider, (unsent) => {
    if (unsent === state.get().unsent) return;
    clearTimeout(lateTimer);
    if (unsent) lateTimer = setTimeout(() => change({ late: true }), lateAfterMs);
    change({ unsent, late: false });
  });
  awareness.on("change", () => {
    const others = [...awareness.getStates()].filter(([id]) => id !== doc.clientID);
    change({ people: others.map(([id, shown]) => parsePerson(id, shown)) });
  });

  const stopListening = onReconnect(() => {
    if (state.get().line === "refused") return;
    provider.disconnect();
    provider.connect();
  });
  const onLeave = (event: BeforeUnloadEvent) => {
    if (hasUnsentEdits(state.get())) event.preventDefault();
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
      clearTimeout(lateTimer);
      stopConfirming();
      stopListening();
      provider.destroy();
      awareness.destroy();
      doc.destroy();
    },
  };
}

/** Something was typed that the host may still take. */
export function hasUnsentEdits({ unsent, line }: LiveState): boolean {
  return unsent && line !== "refused";
}
