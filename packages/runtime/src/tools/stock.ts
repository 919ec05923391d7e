import type { Tool } from "@thinkery/sdk";
import { bash } from "./bash.ts";
import { executeCode } from "./execute-code.ts";
import { sandbox } from "./sandbox.ts";

/** Tools with the tag `default`. */
export const stockTools: readonly Tool[] = [executeCode, sandbox, bash];
