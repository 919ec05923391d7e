import {
  type AgentEvent,
  type AgentTarget,
  type ChatFrame,
  type ErrorCode,
  errorCodes,
  fail,
  type Mode,
  type Outcome,
  eventToUpdates,
  frameToUpdates,
  toUpdates,
} from "@thinkery/sdk";
import type { AgentSocket, AgentSocketState } from "@thinkery/sdk/client";
import type { Connection } from "../connect.ts";
import { InboxWatch } from "../waits/inbox-watch.ts";
import { isSameAgent, type OpenWaits, toAgentTarget } from "../waits/inbox.ts";
import { readOutcome, type WaitingTurn } from "./outcome.ts";
import { openSocket } from "./socket.ts";
import { type TranscriptListener, Transcript } from "./transcript.ts";

interface ConverseOptions {
  connection: Connection;
  target: AgentTarget;
  message: string;
  /** The message's id; sending the same id again has no effect. */
  id: string;
  mode: Mode;
  listener: TranscriptListener;
  /** Reports changes of the connection or the queue. */
  note(line: string): void;
  /** Cancels the turn; its outcome is still awaited. */
  cancel: AbortSignal;
  /**
   * Called while the turn is paused with what it waits for a person to answer, whenever that may have changed. `leave`
   * stops waiting for the outcome. Without `onWaits`, the turn is left as soon as it waits for a person.
   */
  onWaits?: ((waits: OpenWaits, leave: () => void) => void) | undefined;
}

/** How long to wait for a lost host; the turn itself has no time limit here. */
const hostTimeoutMs = 60_000;

/** Sends a message and waits for the turn's outcome, across reconnects. */
export function converse(options: ConverseOptions): Promise<Outcome | WaitingTurn> {
  const { connection, target, message, id, mode, listener, note, cancel, onWaits } = options;
  let channel: AgentSocket | undefined;
  let hostTimer: NodeJS.Timeout | undefined;
  let runId: string | undefined;
  /** Sequence number of the event that accepted the message. */
  let acceptedSeq = 0;
  let connections = 0;
  let inbox: InboxWatch | undefined;
  /** The turn that the agent waits in, if it does. */
  let pausedRunId: string | undefined;
  /** The turn's end was received. */
  let hasEnded = false;
  /** The current connection has sent its history. */
  let hasHistory = false;
  const transcript = new Transcript(listener, (run) => run === runId);
  transcript.markShown(id);

  return new Promise<Outcome | WaitingTurn>((resolve, reject) => {
    const handleWaits = (run: string, found: OpenWaits) => {
      const waits = keepCurrent(found, connection.client.user, target, pausedRunId);
      if (onWaits) onWaits(waits, () => leave(run, waits));
      else if (waits.approvals.length + waits.questions.length > 0) leave(run, waits);
    };
    const leave = (run: string, waits: OpenWaits) =>
      resolve({ runId: run, agent: target.agent, status: "waiting", ...waits });

    const updateInbox = () => {
      // A queued turn waits for whom the one before it waits for.
      const run = runId;
      if (run === undefined || pausedRunId === undefined) {
        inbox?.close();
        inbox = undefined;
        return;
      }
      inbox ??= new InboxWatch({
        connection,
        target,
        onWaits: (waits) => handleWaits(run, waits),
        onError: (error) => note(error instanceof Error ? error.message : String(error)),
      });
    };

    const checkOutcome = async () => {
      const outcome = runId && (await readOutcome(connection.client, target, runId, acceptedSeq));
      if (!outcome) return;
      if (outcome.status === "completed") transcript.conclude(outcome.content);
      resolve(outcome);
    };

    const cancelTurn = () => runId && channel?.send({ type: "cancel", runId });
    cancel.addEventListener("abort", cancelTurn);

    const setRun = (run: string) => {
      const first = runId === undefined;
      runId = run;
      if (!first) return;
      updateInbox();
      transcript.skipStarted();
      if (cancel.aborted) cancelTurn();
    };

    // If the host is unavailable now, the next connection checks again.
    const recheckOutcome = (run = runId) => {
      if (run !== undefined) setRun(run);
      checkOutcome().catch(() => {});
    };

    // A new connection sends missed events first, and then the messages they refer to.
    const settle = () => {
      if (hasEnded && hasHistory) checkOutcome().catch(reject);
    };

    const onFrame = (frame: ChatFrame | AgentEvent) => {
      const before = pausedRunId;
      pausedRunId = findPausedRun(frame, before);
      if (pausedRunId !== before) updateInbox();
      if (frame.type === "request.accepted" && frame.data.messages.some((accepted) => accepted.id === id)) {
        setRun(frame.data.runId);
        acceptedSeq = frame.seq;
      } else if (frame.type === "task-queued" && frame.id === id) {
        // A message admitted earlier may already have its outcome.
        if (runId === undefined || connections > 1) recheckOutcome(frame.taskId);
        if (frame.position > 0 && mode === "queue")
          note(`Queued behind ${frame.position} other turn${frame.position === 1 ? "" : "s"}.`);
      } else if (frame.type === "error" && (frame.id === id || (runId === undefined && isRequestError(frame.code)))) {
        reject(fail(toErrorCode(frame.code), frame.error));
      } else if (frame.type === "history") {
        hasHistory = true;
        if (connections === 1) return;
        transcript.catchUp(frame.messages);
        if (hasEnded) settle();
        else recheckOutcome();
      } else {
        transcript.handleFrame(frame);
        if (hasEnded || !isEnd(frame, runId)) return;
        hasEnded = true;
        settle();
      }
    };

    const onConnection = (state: AgentSocketState, reason?: string) => {
      if (state === "refused") return reject(fail("forbidden", reason ?? "The host refused the connection."));
      if (state === "open") {
        connections++;
        hasHistory = false;
        if (hostTimer) note("Reconnected.");
        clearTimeout(hostTimer);
        hostTimer = undefined;
      } else if (!hostTimer) {
        note("Connection lost; reconnecting…");
        hostTimer = setTimeout(() => reject(createLostError(target, runId !== undefined)), hostTimeoutMs);
      }
    };

    openSocket(connection, target, { onFrame, onConnection }).then((opened) => {
      channel = opened;
      opened.send({ type: "chat", id, content: message, mode });
    }, reject);
  }).finally(() => {
    clearTimeout(hostTimer);
    inbox?.close();
    channel?.close();
  });
}

// Checks events and frames: if a turn ended while disconnected, only the event is received.
function isEnd(frame: ChatFrame | AgentEvent, runId: string | undefined): boolean {
  const updates = "seq" in frame ? eventToUpdates(frame) : frameToUpdates(frame);
  return updates.some((update) => update.kind === "turn-ended" && update.runId === runId);
}

/** Returns the turn that waits for something after a frame. */
function findPausedRun(frame: ChatFrame | AgentEvent, before: string | undefined): string | undefined {
  if (frame.type === "sync") return frame.state.run.status === "paused" ? frame.state.run.runId : undefined;
  let paused = before;
  for (const update of toUpdates(frame)) {
    if (update.kind === "turn-paused") paused = update.runId;
    else if (update.kind === "turn-resumed" || update.kind === "turn-ended") paused = undefined;
  }
  return paused;
}

/** Leaves out what turns of the agent that are over had waited for: the inbox may not know yet. */
function keepCurrent(
  { approvals, questions }: OpenWaits,
  user: string,
  target: AgentTarget,
  runId: string | undefined,
): OpenWaits {
  const isCurrent = ({ agent, turn }: { agent: string; turn: string }) =>
    turn === runId || !isSameAgent(toAgentTarget(agent, user), target);
  return { approvals: approvals.filter(isCurrent), questions: questions.filter(isCurrent) };
}

// A message admitted over HTTP by its key has another id on the host, so its error frame has no id. Request error
// codes are distinct from the codes of failed turns.
function isRequestError(code: string | undefined): boolean {
  return errorCodes.some((known) => known === code);
}

function toErrorCode(code: string | undefined): ErrorCode {
  return errorCodes.find((known) => known === code) ?? "conflict";
}

function createLostError({ agent, agency }: AgentTarget, admitted: boolean): Error {
  const hint = admitted
    ? `Check the result later with \`thinkery peek ${agent}@${agency}\`.`
    : "Start it with `thinkery start` and try again.";
  return fail("unavailable", `Lost the connection to the host and could not reconnect. ${hint}`);
}
