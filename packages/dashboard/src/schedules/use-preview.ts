import { useEffect, useState } from "react";
import { call } from "../api/host.ts";
import { getErrorMessage } from "../api/login.ts";
import type { When } from "./schedule-input.ts";

const delayMs = 250;

/** What the host says about a time: when it is due next, or what is wrong with it. */
export interface Preview {
  next: readonly string[];
  issue?: string;
}

/** Asks the host for the next times while they are entered. Undefined until something is entered. */
export function usePreview(agency: string, agent: string, when: When | undefined): Preview | undefined {
  const [preview, setPreview] = useState<Preview>();
  // A new object on every render, with the same content.
  const key = JSON.stringify(when ?? null);
  useEffect(() => {
    const body = JSON.parse(key) as When | null;
    if (!body) return setPreview(undefined);
    let stale = false;
    const timer = setTimeout(() => {
      call("previewSchedule", { params: { agency, agent }, body }).then(
        ({ next }) => !stale && setPreview({ next }),
        (error: unknown) => !stale && setPreview({ next: [], issue: getErrorMessage(error) }),
      );
    }, delayMs);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [agency, agent, key]);
  return preview;
}
