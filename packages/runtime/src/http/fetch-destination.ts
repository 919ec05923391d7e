import { fail } from "@thinkery/sdk";
import type { Caller } from "./authenticate.ts";

/** What our own page may do with what agents and people wrote: look at it, save it, show a file as a picture. */
const destinations = {
  app: { allowed: new Set(["document"]), refusal: "An app is opened in a window of its own, not as a part of a page." },
  file: {
    allowed: new Set(["document", "empty", "image", "audio", "video", "track"]),
    refusal: "A file is not opened as a part of a page.",
  },
};

/** As a script or a frame of our page, it would have what our page has; so a cookie does not open it there. */
export function checkFetchDestination(request: Request, caller: Caller, what: keyof typeof destinations): void {
  const use = request.headers.get("sec-fetch-dest");
  const { allowed, refusal } = destinations[what];
  if (caller.via === "cookie" && use !== null && !allowed.has(use)) throw fail("forbidden", refusal);
}
