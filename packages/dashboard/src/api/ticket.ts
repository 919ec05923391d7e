import { useEffect, useState } from "react";
import { call } from "./host.ts";

/** Returns a URL that opens a path of the host once: links and images cannot send the page's secret. */
export async function createTicketUrl(path: string): Promise<string> {
  const { ticket } = await call("createTicket", { body: { path } });
  return `${path}${path.includes("?") ? "&" : "?"}ticket=${encodeURIComponent(ticket)}`;
}

/** Returns a URL for loading a path once; undefined until there is one, "failed" if there is none. */
export function useTicketUrl(path: string): string | "failed" | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    createTicketUrl(path).then(
      (created) => isCurrent && setUrl(created),
      () => isCurrent && setUrl("failed"),
    );
    return () => void (isCurrent = false);
  }, [path]);
  return url;
}
