import type { Env } from "@thinkery/runtime";
import { handler } from "./system.worker.ts";

export { Agency, Supervision, Think, User } from "./system.worker.ts";

const day = 86_400_000;
const now = Date.now.bind(Date);
let daysAgo = 0;

Date.now = () => now() - daysAgo * day;

/** A house whose day is set by a header, from the next request on. */
export default {
  fetch(request: Request, env: Env, context: ExecutionContext) {
    daysAgo = Number(request.headers.get("x-days-ago") ?? daysAgo);
    return handler.fetch(request, env, context);
  },
};
