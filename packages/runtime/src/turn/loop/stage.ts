import type { GenerateOptions, NewEvent } from "@thinkery/sdk";
import type { Plan } from "../../middleware/plan.ts";
import type { Stage } from "../../middleware/stage.ts";
import type { AgentStore } from "../../store/agent-store.ts";
import { chatMessages } from "../../store/chat-messages.ts";
import { frozen } from "../../store/persisted.ts";
import type { TurnDeps } from "../turn-deps.ts";

interface StageOptions {
  agent: string;
  runId: string;
  store: AgentStore;
  deps: Pick<TurnDeps, "props" | "info" | "tools" | "limits" | "development">;
  signal: AbortSignal;
  step(): number;
  /** The plan that is being made, while it is. */
  plan(): Plan | undefined;
  consult(question: GenerateOptions): Promise<string>;
  hold(...events: NewEvent[]): void;
  flush(): void;
}

/** What middleware sees of a turn, or of an agent between two. */
export function stageOf({ agent, runId, store, deps, signal, step, plan, consult, hold, flush }: StageOptions): Stage {
  const { props, info, tools, limits, development } = deps;
  /** What is read has to be true, also what is to be written with the next facts. */
  const current = <T>(read: () => T) => {
    flush();
    return read();
  };
  return {
    agent,
    runId,
    props: frozen(props),
    signal,
    step,
    consult,
    hold,
    flush,
    development,
    hookSeconds: limits.hookSeconds,
    info: () => current(info),
    run: () => current(() => store.turns.run(agent)),
    messages: () => current(() => chatMessages(store)),
    kept: (middleware) => current(() => store.kept.of(middleware)),
    registerTool(tool, from) {
      const definition = tools.register(tool, from);
      plan()?.offer(definition);
    },
    unregisterTool: (tool) => tools.remove(tool),
  };
}
