import type { Consultation, NewEvent } from "@thinkery/sdk";
import type { Stage } from "../middleware/pipeline.ts";
import type { Plan } from "../middleware/plan.ts";
import type { AgentStore } from "../store/agent-store.ts";
import { chatMessages } from "./chat-messages.ts";
import type { Equipment } from "./equipment.ts";

interface StageOptions {
  agent: string;
  runId: string;
  store: AgentStore;
  equipment: Pick<Equipment, "props" | "info" | "tools" | "limits" | "development">;
  signal: AbortSignal;
  step(): number;
  /** The plan that is being made, while it is. */
  plan(): Plan | undefined;
  consult(question: Consultation): Promise<string>;
  hold(...events: NewEvent[]): void;
}

/** What middleware sees of a turn, or of an agent between two. */
export function stageOf({ agent, runId, store, equipment, signal, step, plan, consult, hold }: StageOptions): Stage {
  const { props, info, tools, limits, development } = equipment;
  return {
    agent,
    runId,
    props,
    signal,
    step,
    consult,
    hold,
    development,
    hookSeconds: limits.hookSeconds,
    info,
    run: () => store.turns.run(agent),
    messages: () => chatMessages(store),
    kept: (middleware) => store.kept.of(middleware),
    registerTool(tool, from) {
      tools.add(tool, from);
      const definition = tools.definitions().at(-1);
      if (definition) plan()?.offer(definition);
    },
  };
}
