import { fail } from "@thinkery/sdk";
import type { Caller } from "./authenticate.ts";

/** How our page may load content written by agents and users: open it, download it, or show a file as media. */
const destinations = {
  app: {
    allowed: new Set(["document"]),
    message: "Apps can only be opened in their own window, not embedded in a page.",
  },
  file: {
    allowed: new Set(["document", "empty", "image", "audio", "video", "track"]),
    message: "Files cannot be embedded in a page as scripts or frames.",
  },
};

/** Rejects the cookie for scripts and frames, where the content would have the privileges of our page. */
export function checkFetchDestination(request: Request, caller: Caller, kind: keyof typeof destinations): void {
  const destination = request.headers.get("sec-fetch-dest");
  const { allowed, message } = destinations[kind];
  if (caller.via !== "header" && destination !== null && !allowed.has(destination)) throw fail("forbidden", message);
}
