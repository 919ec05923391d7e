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
import type { Talk, TalkState } from "@thinkery/sdk/client";
import type { Connection } from "../connect.ts";
import { readOutcome } from "./outcome.ts";
import { openTalk } from "./socket.ts";
import { type TranscriptListener, Transcript } from "./transcript.ts";

interface ConverseOptions {
  connection: Connection;
  target: AgentTarget;
  message: string;
  /** The message's id: said twice with one id, it is said once. */
  id: string;
  mode: Mode;
  listener: TranscriptListener;
  /** Something about the connection or the queue that a person may want to know. */
  note(line: string): void;
  /** Cancels the turn; its outcome is still waited for. */
  cancel: AbortSignal;
}

/** So long we wait for a host that went away; the turn itself waits as long as it must. */
const hostTimeoutMs = 60_000;

/** Says one thing to an agent and stays until the turn has its outcome, whatever happens to the connection. */
export function converse(conversation: ConverseOptions): Promise<Outcome> {
  const { connection, target, message, id, mode, listener, note, cancel } = conversation;
  let channel: Talk | undefined;
  let hostTimer: NodeJS.Timeout | undefined;
  let runId: string | undefined;
  let before = 0;
  let connections = 0;
  /** The turn's end was seen; and this connection has told what went before. */
  let hasEnded = false;
  let hasHistory = false;
  const transcript = new Transcript(listener, (run) => run === runId);
  transcript.markShown(id);

  return new Promise<Outcome>((resolve, reject) => {
    const checkOutcome = async () => {
      const outcome = runId && (await readOutcome(connection.client, target, runId, before));
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

    // A host that is away now is asked again at the next connection.
    const recheckOutcome = (run = runId) => {
      if (run !== undefined) setRun(run);
      checkOutcome().catch(() => {});
    };

    // Missed events come first in a new connection, and only then the messages they tell of.
    const settle = () => {
      if (hasEnded && hasHistory) checkOutcome().catch(reject);
    };

    const onFrame = (frame: ChatFrame | AgentEvent) => {
      if (frame.type === "request.accepted" && frame.data.messages.some((said) => said.id === id)) {
        setRun(frame.data.runId);
        before = frame.seq;
      } else if (frame.type === "task-queued" && frame.id === id) {
        // What was admitted before may be over already.
        if (runId === undefined || connections > 1) recheckOutcome(frame.taskId);
        if (frame.position > 0 && mode === "queue") note(`Queued; ${formatTurns(frame.position)} first.`);
      } else if (frame.type === "error" && (frame.id === id || (runId === undefined && isRefusal(frame.code)))) {
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

    const onConnection = (state: TalkState, reason?: string) => {
      if (state === "refused") return reject(fail("forbidden", reason ?? "The host refuses the connection."));
      if (state === "open") {
        connections++;
        hasHistory = false;
        if (hostTimer) note("Connected again.");
        clearTimeout(hostTimer);
        hostTimer = undefined;
      } else if (!hostTimer) {
        note("The connection is lost; trying again.");
        hostTimer = setTimeout(() => reject(createLostError(target, runId !== undefined)), hostTimeoutMs);
      }
    };

    openTalk(connection, target, { onFrame, onConnection }).then((opened) => {
      channel = opened;
      opened.send({ type: "chat", id, content: message, mode });
    }, reject);
  }).finally(() => {
    clearTimeout(hostTimer);
    channel?.close();
  });
}

// Both vocabularies count: of a turn that ended while the connection was lost, only the event comes.
function isEnd(frame: ChatFrame | AgentEvent, runId: string | undefined): boolean {
  const updates = "seq" in frame ? eventToUpdates(frame) : frameToUpdates(frame);
  return updates.some((update) => update.kind === "turn-ended" && update.runId === runId);
}

// The host knows a message that was admitted by its key over HTTP under another id, and then names none.
// Turns fail with codes of their own; these are answers to what was sent.
function isRefusal(code: string | undefined): boolean {
  return errorCodes.some((known) => known === code);
}

function formatTurns(count: number): string {
  return count === 1 ? "1 turn goes" : `${count} turns go`;
}

function toErrorCode(code: string | undefined): ErrorCode {
  return errorCodes.find((known) => known === code) ?? "conflict";
}

function createLostError({ agent, agency }: AgentTarget, admitted: boolean): Error {
  const later = `see what came of it with \`thinkery peek ${agent}@${agency}\``;
  return fail(
    "unavailable",
    `The host went away and did not come back; ${admitted ? later : "try again when it runs"}.`,
  );
}
