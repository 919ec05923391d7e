import type { ChatMessage, GenerateOptions, NewEvent, Props, Run, ThreadInfo, Tool } from "@thinkery/sdk";

/** What middleware sees of the agent it is in: during a turn, or between two. */
export interface TurnScope {
  agent: string;
  runId: string;
  step(): number;
  info(): ThreadInfo;
  run(): Run;
  props: Props;
  signal: AbortSignal;
  messages(): ChatMessage[];
  registerTool(tool: Tool, from: string): void;
  unregisterTool(tool: Tool): void;
  consult(question: GenerateOptions): Promise<string>;
  /** The values that a middleware keeps, to do with as one likes. */
  getState(middleware: string): Record<string, unknown>;
  /** Writes facts with whatever is written next. */
  hold(...events: NewEvent[]): void;
  /** Writes what is held: somebody is going to wait, or to read. */
  flush(): void;
  development: boolean;
  hookTimeoutSeconds: number;
}
