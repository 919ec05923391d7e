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
  /** The plan of the model call that is being prepared, if any. */
  plan(): Plan | undefined;
  generate(input: GenerateOptions): Promise<string>;
  hold(...events: NewEvent[]): void;
  flush(): void;
}

/** Creates middleware's view of a turn, or of an agent between turns. */
export function createTurnScope({
  agent,
  runId,
  store,
  deps,
  signal,
  step,
  plan,
  generate,
  hold,
  flush,
}: TurnScopeOptions): TurnScope {
  const { props, info, tools, limits, development } = deps;
  /** Writes the held events first, so that the result includes them. */
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
    generate,
    hold,
    flush,
    development,
    hookTimeoutSeconds: limits.hookTimeoutSeconds,
    info: () => readCurrent(info),
    run: () => readCurrent(() => store.turns.getRun(agent)),
    messages: () => readCurrent(() => listChatMessages(store)),
    getState: (middleware) => readCurrent(() => store.middlewareState.read(middleware)),
    registerTool(tool, middleware) {
      const definition = tools.register(tool, `the middleware “${middleware}”`, `middleware ${middleware}`);
      plan()?.addTool(definition);
    },
    unregisterTool: (tool) => tools.remove(tool),
  };
}
