import type { Tool } from "@thinkery/sdk";
import { setTitle } from "./set-title.ts";

/** What every agent has, whatever its tags. */
export const coreTools: readonly Tool[] = [setTitle];
