import type { EventData, Tool } from "@thinkery/sdk";
import { digestCalls } from "./call-digest.ts";
import type { AskedCall } from "./execute-call.ts";
import type { CallFailure } from "./run-with-timeout.ts";
import type { StepContext } from "./step-context.ts";

/** What a person can be expected to read. */
const maxAskedChars = 512 * 1024;
const defaultExpirySeconds = 7 * 24 * 3600;
const maxPreviewChars = 20_000;

type ProposedCall = EventData["hitl.interrupt"]["proposedToolCalls"][number];

/** Returns why a call is too large for a person to decide about. */
export function findAskIssue({ tool, given }: AskedCall): CallFailure | undefined {
  if ((JSON.stringify(given) ?? "").length <= maxAskedChars) return undefined;
  const message = `${tool.name} needs a person's approval, and its input is too long to be read: at most ${maxAskedChars / 1024} KB.`;
  return { code: "denied", message };
}

/** Asks for approval of calls of one model response. The turn waits for the answer. */
export async function askApproval(calls: readonly AskedCall[], step: StepContext): Promise<void> {
  const proposedToolCalls = await Promise.all(calls.map((call) => proposeCall(call, step)));
  step.signal.throwIfAborted();
  const expirySeconds = step.deps.config?.hitl?.expiresSeconds ?? defaultExpirySeconds;
  step.record({
    type: "hitl.interrupt",
    data: {
      runId: step.runId,
      step: step.step,
      approvalId: crypto.randomUUID(),
      proposedToolCalls,
      digest: digestCalls(proposedToolCalls.map(({ toolName: name, args }) => ({ name, input: args }))),
      expiresAt: new Date(Date.now() + expirySeconds * 1000).toISOString(),
    },
  });
}

async function proposeCall({ id, tool, given, input, why }: AskedCall, step: StepContext): Promise<ProposedCall> {
  // As it will be stored: what a person sees, and the digest, must be of the same text.
  const args = step.deps.redact(given);
  const preview = await createPreview(tool, input, step);
  const remember = tool.ruleFor?.(input);
  return {
    callId: id,
    toolName: tool.name,
    args,
    why,
    ...(preview ? { preview } : {}),
    ...(remember === undefined ? {} : { remember }),
  };
}

/** A preview that fails is left out: the input is shown in any case. */
async function createPreview(tool: Tool, input: unknown, { deps }: StepContext): Promise<ProposedCall["preview"]> {
  const { workspace, branch } = deps;
  try {
    const preview = await tool.preview?.(input, {
      read: (path, options) => workspace.read(path, { branch, ...options }),
      readBytes: (content, path) => workspace.readBytes(content, path),
    });
    return preview && shorten(preview);
  } catch (error) {
    console.error(`the preview of ${tool.name} failed`, error);
    return undefined;
  }
}

function shorten(preview: NonNullable<ProposedCall["preview"]>): ProposedCall["preview"] {
  const cut = (text: string) => (text.length > maxPreviewChars ? `${text.slice(0, maxPreviewChars)}…` : text);
  return Object.fromEntries(
    Object.entries(preview).map(([key, value]) => [key, typeof value === "string" ? cut(value) : value]),
  ) as typeof preview;
}
