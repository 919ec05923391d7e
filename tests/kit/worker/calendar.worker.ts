import { handler } from "./system.worker.ts";

export { Agency, Supervision, Think, User } from "./system.worker.ts";

const day = 86_400_000;
const now = Date.now.bind(Date);
let daysAgo = 0;

Date.now = () => now() - daysAgo * day;

/** A host whose date is set by the header `x-days-ago`, from that request on. */
export default {
  ...handler,
  fetch(request, ...rest) {
    daysAgo = Number(request.headers.get("x-days-ago") ?? daysAgo);
    return handler.fetch?.(request, ...rest) ?? new Response();
  },
} satisfies typeof handler;
