import { type Agent, isThinkeryError } from "@thinkery/sdk";
import { useMemo } from "react";
import { call } from "../api/host.ts";
import { createSource, useSource } from "../api/source.ts";
import { HostLink } from "../parts/host-link.tsx";

/** Link to the agent's app, loaded when shown. It opens in a new tab because it is not part of this page. */
export function AppLink({ agent: { agency, name } }: { agent: Agent }) {
  const source = useMemo(() => createSource(() => fetchApp(agency, name)), [agency, name]);
  const { value, error } = useSource(source);
  if (error) return <span className="faint">unavailable: {error.message}</span>;
  if (!value) return "…";
  const { app } = value;
  if (!app) return <span className="faint">none</span>;
  return (
    <>
      <HostLink href={app.address} newTab>
        Open in a new tab
      </HostLink>{" "}
      <span className="faint">
        version <span className="mono">{app.version}</span>
      </span>
    </>
  );
}

async function fetchApp(agency: string, agent: string) {
  try {
    return { app: await call("getApp", { params: { agency, agent } }) };
  } catch (error) {
    if (isThinkeryError(error) && error.code === "not_found") return {};
    throw error;
  }
}
