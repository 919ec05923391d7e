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
} from "@thinkery/sdk";
import type { AgentSocket, AgentSocketState } from "@thinkery/sdk/client";
import type { Connection } from "../connect.ts";
import { readOutcome } from "./outcome.ts";
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
}

/** How long to wait for a lost host; the turn itself has no time limit here. */
const hostTimeoutMs = 60_000;

/** Sends a message and waits for the turn's outcome, across reconnects. */
export function converse(options: ConverseOptions): Promise<Outcome> {
  const { connection, target, message, id, mode, listener, note, cancel } = options;
  let channel: AgentSocket | undefined;
  let hostTimer: NodeJS.Timeout | undefined;
  let runId: string | undefined;
  /** Sequence number of the event that accepted the message. */
  let acceptedSeq = 0;
  let connections = 0;
  /** The turn's end was received. */
  let hasEnded = false;
  /** The current connection has sent its history. */
  let hasHistory = false;
  const transcript = new Transcript(listener, (run) => run === runId);
  transcript.markShown(id);

  return new Promise<Outcome>((resolve, reject) => {
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
    channel?.close();
  });
}

// Checks events and frames: if a turn ended while disconnected, only the event is received.
function isEnd(frame: ChatFrame | AgentEvent, runId: string | undefined): boolean {
  const updates = "seq" in frame ? eventToUpdates(frame) : frameToUpdates(frame);
  return updates.some((update) => update.kind === "turn-ended" && update.runId === runId);
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
