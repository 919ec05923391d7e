import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { onReconnect } from "../../api/follow.ts";
import { buildSocketUrl } from "../../api/host.ts";
import { getPageProtocols } from "../../api/page-secret.ts";
import { createStore, type Store } from "../../api/store.ts";
import { buildWorkspaceUrl, type Workspace } from "../../api/workspace.ts";
import { type Person, parsePerson, personColors } from "./people.ts";
import { trackUnconfirmedEdits } from "./track-unconfirmed-edits.ts";

export interface LiveState {
  connection: "connecting" | "open" | "lost" | "refused";
  /** Why the host rejected the connection or an edit. */
  rejection?: { reason: string; isBranchGone: boolean };
  /** Whether the whole document has been received. */
  ready: boolean;
  /** Whether there are edits that the host has not confirmed; `late` if the confirmation is overdue. */
  unsent: boolean;
  late: boolean;
  people: readonly Person[];
}

/** A collaborative editing session for the files of a workspace. */
export interface LiveSession {
  doc: Y.Doc;
  files: Y.Map<Y.Text>;
  awareness: WebsocketProvider["awareness"];
  state: Store<LiveState>;
  /** Shows other users which file is open here. */
  setCurrentFile(path: string | undefined): void;
  close(): void;
}

/** Time without confirmation after which the user is told. */
const lateAfterMs = 2_000;
/** WebSocket close code for a branch that no longer exists. */
const branchGoneCode = 4404;

export function openLiveSession(workspace: Workspace, user: string): LiveSession {
  const { branch } = workspace;
  const doc = new Y.Doc();
  const root = buildSocketUrl(buildWorkspaceUrl(workspace));
  const provider = new WebsocketProvider(root, "yjs", doc, {
    params: branch === undefined ? {} : { branch },
    protocols: getPageProtocols(),
    // Tabs sync through the host, which enforces permissions, not directly with each other.
    disableBc: true,
  });
  const { awareness } = provider;
  const state = createStore<LiveState>({
    connection: "connecting",
    ready: false,
    unsent: false,
    late: false,
    people: [],
  });
  const change = (part: Partial<LiveState>) => state.set({ ...state.get(), ...part });

  awareness.setLocalStateField("user", { name: user, color: personColors[doc.clientID % personColors.length] });

  provider.on("status", ({ status }) => {
    if (state.get().connection === "refused" || status === "connected") return;
    change({ connection: state.get().ready || provider.wsUnsuccessfulReconnects > 0 ? "lost" : "connecting" });
  });
  provider.on("sync", (synced) => synced && change({ connection: "open", ready: true }));
  provider.on("closed", ({ code, reason }) =>
    change({
      connection: "refused",
      rejection: { reason: reason || "The host closed the connection.", isBranchGone: code === branchGoneCode },
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
    change({ people: others.map(([id, awarenessState]) => parsePerson(id, awarenessState)) });
  });

  const stopListening = onReconnect(() => {
    if (state.get().connection === "refused") return;
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
    setCurrentFile: (path) => awareness.setLocalState({ ...awareness.getLocalState(), path, cursor: null }),
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

/** Whether there are edits that the host may still accept. */
export function hasUnsentEdits({ unsent, connection }: LiveState): boolean {
  return unsent && connection !== "refused";
}
