import { setTitle } from "./set-title.ts";
import type { Tool } from "./tool.ts";
import { writeTodos } from "./write-todos.ts";

/** What every agent has. */
export const coreTools: readonly Tool[] = [writeTodos, setTitle];
