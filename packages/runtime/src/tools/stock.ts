import type { Tool } from "@thinkery/sdk";
import { bash } from "./bash.ts";
import { executeCode } from "./execute-code.ts";
import { sandbox } from "./sandbox.ts";
import { askUser } from "./waits/ask-user.ts";
import { sleepUntil } from "./waits/sleep-until.ts";
import { waitForWebhook } from "./waits/wait-for-webhook.ts";

/** Tools with the tag `default`. */
export const stockTools: readonly Tool[] = [executeCode, sandbox, bash, askUser, sleepUntil, waitForWebhook];
