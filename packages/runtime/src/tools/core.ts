import type { Tool } from "@thinkery/sdk";
import { setTitle } from "./set-title.ts";

/** Tools of every agent, regardless of its tags. */
export const coreTools: readonly Tool[] = [setTitle];
