import type { GenerateOptions, NewEvent } from "@thinkery/sdk";
import type { Plan } from "../../middleware/plan.ts";
import type { TurnScope } from "../../middleware/turn-scope.ts";
import type { AgentStore } from "../../store/agent-store.ts";
import { listChatMessages } from "../../store/chat-messages.ts";
import { deepFreeze } from "../../store/persisted-object.ts";
import type { TurnDeps } from "../turn-deps.ts";

interface TurnScopeOptions {
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
export function createTurnScope({
  agent,
  runId,
  store,
  deps,
  signal,
  step,
  plan,
  consult,
  hold,
  flush,
}: TurnScopeOptions): TurnScope {
  const { props, info, tools, limits, development } = deps;
  /** What is read has to be true, also what is to be written with the next facts. */
  const readCurrent = <T>(read: () => T) => {
    flush();
    return read();
  };
  return {
    agent,
    runId,
    props: deepFreeze(props),
    signal,
    step,
    consult,
    hold,
    flush,
    development,
    hookTimeoutSeconds: limits.hookTimeoutSeconds,
    info: () => readCurrent(info),
    run: () => readCurrent(() => store.turns.getRun(agent)),
    messages: () => readCurrent(() => listChatMessages(store)),
    getState: (middleware) => readCurrent(() => store.middlewareState.read(middleware)),
    registerTool(tool, from) {
      const definition = tools.register(tool, from);
      plan()?.offer(definition);
    },
    unregisterTool: (tool) => tools.remove(tool),
  };
}
