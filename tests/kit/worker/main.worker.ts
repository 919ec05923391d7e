import { Think as ProductThink } from "@thinkery/runtime";
import { defer, defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";
import { modelTools } from "./model-tools.ts";

export { Agency, default, Supervision, User } from "@thinkery/runtime";

/** The stock agent with tools that misbehave, and tools whose side effects a test can count. */
export class Think extends ProductThink {
  protected override getCustomTools(): readonly Tool[] {
    return [
      this.#createRingTool("ring", false),
      this.#createRingTool("ring_again", true),
      this.#createReportsTool(),
      this.#createPickTool(),
      ...misbehavingTools,
      ...modelTools,
    ];
  }

  /** Takes the reports of sub-agents, and has its result only once the bell was answered. */
  #createReportsTool(): Tool {
    return defineTool(
      {
        name: "take_reports",
        description: "For tests.",
        inputSchema: z.object({ bell: z.string() }),
        idempotent: true,
      },
      async ({ bell }, { callId, signal, subagents }) => {
        const reports = [...subagents.takeReports(), ...subagents.takeReports()];
        const body = JSON.stringify({ tool: "take_reports", id: "reports", callId });
        await (this.env.MODELS ?? globalThis).fetch(bell, { method: "POST", body, signal });
        return reports.map(({ result }) => result).join();
      },
    );
  }

  #createRingTool(name: string, idempotent: boolean): Tool {
    return defineTool(
      {
        name,
        description: "Rings a bell that counts.",
        inputSchema: z.object({ bell: z.string(), id: z.string(), ms: z.number().default(0) }),
        action: "ring",
        idempotent,
        parallel: true,
      },
      async ({ bell, id, ms }, { callId, signal }) => {
        const text = await this.#ring(bell, { tool: name, id, callId }, signal);
        if (ms > 0) await sleep(ms);
        return text;
      },
    );
  }

  /** Asks the user, and rings the bell with the answer; without one, it waits for a result from elsewhere. */
  #createPickTool(): Tool {
    const name = "pick";
    return defineTool(
      {
        name,
        description: "Asks for a color, and rings a bell with it.",
        inputSchema: z.object({ bell: z.string(), id: z.string() }),
        resume: async ({ value, by, state }, { callId, signal }) => {
          if (value === "none") return defer();
          const { bell, id } = state as { bell: string; id: string };
          return `${by}: ${await this.#ring(bell, { tool: name, id: `${id} ${String(value)}`, callId }, signal)}`;
        },
      },
      (state) =>
        defer({ kind: "input", prompt: `Color of ${state.id}?`, schema: { enum: ["red", "blue", "none"] }, state }),
    );
  }

  async #ring(bell: string, ring: object, signal: AbortSignal): Promise<string> {
    // The binding that reaches loopback.
    const init = { method: "POST", body: JSON.stringify(ring), signal };
    return (await (this.env.MODELS ?? globalThis).fetch(bell, init)).text();
  }
}

const misbehavingTools: readonly Tool[] = [
  createMisbehavingTool("throw", {}, () => {
    throw new Error("This tool throws.");
  }),
  createMisbehavingTool("hang", {}, () => new Promise(() => {})),
  createMisbehavingTool("circular", {}, () => {
    const value: { self?: unknown } = {};
    value.self = value;
    return value;
  }),
  createMisbehavingTool("huge", { mb: z.number() }, ({ mb }) => "x".repeat(Number(mb) * 1024 * 1024)),
  createMisbehavingTool("wait", { ms: z.number() }, async ({ ms }) => {
    await sleep(Number(ms));
    return `Waited ${String(ms)} ms.`;
  }),
  createMisbehavingTool("kb", { kb: z.number() }, ({ kb }) => "y".repeat(Number(kb) * 1024)),
  defineTool(
    {
      name: "consult",
      description: "Asks a model.",
      inputSchema: z.object({ prompt: z.string() }),
      idempotent: true,
      parallel: true,
    },
    ({ prompt }, { generate }) => generate({ prompt }),
  ),
  { ...createMisbehavingTool("echo", { text: z.string() }, ({ text }) => text), aliases: ["repeat_after_me"] },
];

function createMisbehavingTool(
  name: string,
  shape: z.ZodRawShape,
  execute: (input: Record<string, unknown>) => unknown,
): Tool {
  return defineTool(
    {
      name,
      description: "For tests.",
      inputSchema: z.object(shape) as z.ZodType<Record<string, unknown>>,
      idempotent: true,
    },
    execute,
  );
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
