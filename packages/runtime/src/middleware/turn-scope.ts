import type { ChatMessage, GenerateOptions, NewEvent, Props, Run, ThreadInfo, Tool } from "@thinkery/sdk";

/** What middleware can access of its agent, during a turn or between turns. */
export interface TurnScope {
  agent: string;
  runId: string;
  step(): number;
  info(): ThreadInfo;
  run(): Run;
  props: Props;
  signal: AbortSignal;
  messages(): ChatMessage[];
  registerTool(tool: Tool, middleware: string): void;
  unregisterTool(tool: Tool): void;
  generate(options: GenerateOptions): Promise<string>;
  /** Returns a copy of a middleware's stored state, which the caller may change. */
  getState(middleware: string): Record<string, unknown>;
  /** Buffers events, to be recorded with the next write. */
  hold(...events: NewEvent[]): void;
  /** Writes buffered events, before something waits for or reads them. */
  flush(): void;
  development: boolean;
  hookTimeoutSeconds: number;
}
