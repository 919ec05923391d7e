import { isThinkeryError, ToolError } from "@thinkery/sdk";
import { type AgentRoute, type AgentState, maxStateBytes, type StateChanges } from "@thinkery/sdk/agent-host";
import { z } from "zod";
import type { AgentOutcome } from "../../sandbox/agent-run.ts";
import { ProcessLostError } from "../../sandbox/agent-sandbox.ts";
import { isDeeperThan } from "../../sandbox/json-depth.ts";
import { CodeError, describeHandlerError } from "./code-error.ts";
import type { CodeSession } from "./code-session.ts";
import type { CodeVersion } from "./code-version.ts";
import { jsonValueSchema, maxJsonDepth } from "./host-call-schemas.ts";
import type { UserCode } from "./user-code.ts";

interface CodeRequest {
  route: AgentRoute;
  version: CodeVersion;
  payload: object;
  signal: AbortSignal;
  runId?: string;
  /** Opens what the code can reach; again if it has to be run again. */
  open(): CodeSession;
  /** A running request of the same owner waits for this one. */
  isAwaited?: boolean;
  /** Called before the code is run again, because its process was lost. */
  onRestart?(): Promise<void>;
  /** Writes what the request has changed, together with the state. */
  commit(): void;
}

export const handlerErrorSchema = z.object({
  error: z.object({ name: z.string(), message: z.string(), stack: z.string().optional() }),
});

/** Not a record, which would be copied: it may have hundreds of thousands of keys. */
const setSchema = z.custom<AgentState>((set) => typeof set === "object" && set !== null && !Array.isArray(set));

const changesSchema = z.object({ set: setSchema, deleted: z.array(z.string()) });

const resultSchema = z.object({ state: changesSchema, output: jsonValueSchema.optional() });

/** Attempts in a process of its own, if that ends for no fault of the code. */
const maxCrashes = 3;

/**
 * Lets an agent's code handle a request, and saves what it changed: all of it, or nothing if it fails. Returns what a
 * tool returned.
 */
export async function sendRequest(code: UserCode, request: CodeRequest): Promise<unknown> {
  const { record } = code.store;
  const { route, version, runId } = request;
  const startedAt = Date.now();
  let session: CodeSession | undefined;
  let failed = 0;
  try {
    const outcome = await runUntilKept(code, request, (opened) => (session = opened));
    const { state, output } = parseOutcome(outcome);
    request.signal.throwIfAborted();
    code.store.transact(() => {
      saveState(code, state);
      session?.storage.commit();
      request.commit();
    });
    return output;
  } catch (thrown) {
    const error = findCause(thrown, session?.lastError);
    if (!request.signal.aborted) {
      failed = 1;
      const message = error instanceof Error ? error.message : String(error);
      const text = code.redact(route === "message" ? message : `${route}: ${message}`);
      session?.log.add({ level: "error", text });
      record.lastError = {
        at: new Date().toISOString(),
        message: text.slice(0, 5000),
        version: version.version,
        ...(runId ? { runId } : {}),
      };
    }
    throw error;
  } finally {
    session?.close();
    const { hostCalls = 0, modelCalls = 0 } = session?.figures ?? {};
    record.addFigures({ failed, ms: Date.now() - startedAt, hostCalls, modelCalls });
  }
}

/**
 * When a process is lost, nobody knows which of its agents is at fault. Each is run again, in a process of its own,
 * where only the one at fault fails again.
 */
async function runUntilKept(
  code: UserCode,
  request: CodeRequest,
  onOpen: (session: CodeSession) => void,
): Promise<AgentOutcome> {
  const { record } = code.store;
  const { hash } = request.version;
  let isAlone = record.apart === hash;
  for (let crashes = 0; ;) {
    const session = request.open();
    onOpen(session);
    try {
      return await runOnce(code, request, session, isAlone);
    } catch (error) {
      if (!(error instanceof ProcessLostError)) throw error;
      session.close();
      const wasAtFault = isAlone && error.ended !== "crash" && error.ended !== "asked";
      if (wasAtFault) record.apart = hash;
      if (wasAtFault || ++crashes > maxCrashes) throw explainLoss(error);
      if (!request.onRestart && session.hasEffects)
        throw new CodeError("The process of the agent was lost while its code ran, and cannot be run again safely.");
      await request.onRestart?.();
      isAlone = true;
    }
  }
}

async function runOnce(
  code: UserCode,
  { route, payload, version, signal, isAwaited = false }: CodeRequest,
  session: CodeSession,
  isAlone: boolean,
): Promise<AgentOutcome> {
  try {
    return await code.sandbox.send(
      { route, payload: JSON.stringify(payload), isolateId: `${code.isolateName}.${version.hash}` },
      {
        owner: code.owner,
        isAlone,
        isAwaited,
        signal,
        readCode: () => code.readCode(version),
        call: (name, input) => session.call(name, input),
        onConsole: (text) => session.log.addConsole(text),
      },
    );
  } catch (error) {
    if (error instanceof ToolError) throw new CodeError(error.message);
    throw error;
  }
}

/** Returns the error of the host that the code passed on, if it did: it says what kind of failure it is. */
function findCause(thrown: unknown, ofHost: unknown): unknown {
  const isKnown =
    ofHost instanceof Error && (isThinkeryError(ofHost) || ofHost.name === "TurnError" || ofHost.name === "ModelError");
  return isKnown && thrown instanceof CodeError && thrown.message.includes(ofHost.message) ? ofHost : thrown;
}

const lossReasons = {
  silence: "blocked its process: it ran for too long without pausing. Look for a loop that does not end",
  memory: "used too much memory",
  cpu: "used too much CPU time",
} as const;

function explainLoss({ ended }: ProcessLostError): CodeError {
  const reason = ended in lossReasons ? lossReasons[ended as keyof typeof lossReasons] : undefined;
  if (!reason) return new CodeError("The process of the agent's code ended repeatedly.", "Send the message again.");
  return new CodeError(
    `The agent's code ${reason}.`,
    "It runs in a process of its own until its code changes, so that other agents are not affected.",
  );
}

function parseOutcome(outcome: AgentOutcome): z.infer<typeof resultSchema> {
  if (!outcome.ok) throw new CodeError(outcome.message);
  const { status, body } = outcome;
  if (status !== 200) {
    const error = parseBody(handlerErrorSchema, body)?.error;
    throw new CodeError(
      error
        ? describeHandlerError({ ...error, stack: error.stack ?? "" })
        : `The agent's code responded with status ${status}.`,
    );
  }
  const result = parseBody(resultSchema, body);
  if (!result) throw new CodeError("The agent's code responded with no valid result. Define it with defineAgent.");
  return result;
}

/** Returns undefined if the body is not JSON of this schema, or is nested too deeply. */
function parseBody<T>(schema: z.ZodType<T>, body: string): T | undefined {
  if (isDeeperThan(body, maxJsonDepth)) return undefined;
  try {
    return schema.safeParse(JSON.parse(body || "null")).data;
  } catch {
    return undefined;
  }
}

function saveState({ store: { record } }: UserCode, changes: StateChanges): void {
  if (Object.keys(changes.set).length > maxStateKeys)
    throw new CodeError(`The state would have more than ${maxStateKeys} keys. Keep large values with ctx.storage.`);
  record.changeState(changes);
  const bytes = Buffer.byteLength(record.stateJson);
  if (bytes > maxStateBytes)
    throw new CodeError(
      `The state would have ${bytes} bytes, and may have at most ${maxStateBytes}. Keep large values with ctx.storage.`,
    );
}

/** More would be too many bytes in any case. */
const maxStateKeys = Math.floor(maxStateBytes / 6);
