import { type Agent, type Blueprint, fail } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import type { DriverDefinition } from "../drivers/driver.ts";

export const defaultDriver = "think";

/** Returns the driver of an agent: its own, else its blueprint's, else the default. */
export function resolveDriver(
  drivers: readonly DriverDefinition[],
  agent: Pick<Agent, "driver">,
  blueprint: Pick<Blueprint, "driver">,
): DriverDefinition {
  return getDriver(drivers, agent.driver ?? blueprint.driver ?? defaultDriver);
}

/** Throws if there is no driver of this name; `path` is where the name was given. */
export function checkDriver(drivers: readonly DriverDefinition[], name: string | undefined, path: string[]): void {
  if (name !== undefined) getDriver(drivers, name, path);
}

function getDriver(drivers: readonly DriverDefinition[], name: string, path = ["driver"]): DriverDefinition {
  const found = drivers.find((driver) => driver.name === name);
  if (found) return found;
  const names = drivers.map((driver) => driver.name);
  const suggestion = findNearest(name, names);
  const message = `Unknown driver “${name}”${suggestion ? `. Did you mean “${suggestion}”?` : `. Available: ${names.join(", ")}.`}`;
  throw fail("bad_request", message, { issues: [{ path, message }] });
}
