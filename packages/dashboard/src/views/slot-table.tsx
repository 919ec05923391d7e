import { type Health, parseAddress } from "@thinkery/sdk";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import { formatBytes, formatCount } from "../parts/amount.ts";

type Slot = NonNullable<Health["sandboxes"]>[number];

const tones = { ready: "ok", starting: "quiet", unused: "quiet", restarting: "warn", failed: "bad" } as const;

/** The sandboxes of the host: their state and the agents whose code they run. */
export function SlotTable({ slots, waiting }: { slots: readonly Slot[]; waiting: number }) {
  return (
    <div className="slots">
      <h3>Sandboxes {waiting > 0 && <span className="count">{formatCount(waiting, "run")} waiting</span>}</h3>
      {slots.length === 0 ? (
        <p className="faint">None. Agents cannot run code on this host.</p>
      ) : (
        <div className="table-frame">
          <table aria-label="Sandboxes">
            <thead>
              <tr>
                <th scope="col">Sandbox</th>
                <th scope="col">State</th>
                <th scope="col">Agent</th>
                <th scope="col">Runs</th>
                <th scope="col">Memory</th>
                <th scope="col">Restarts</th>
              </tr>
            </thead>
            <tbody>
              {slots.map((slot) => (
                <SlotRow key={slot.name} slot={slot} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function SlotRow({ slot: { name, state, agent, runs, memoryBytes, restarts } }: { slot: Slot }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td data-label="State">
        <span className="slot-state">
          <span className="dot" data-tone={tones[state]} data-busy={agent !== undefined || undefined} />
          {state}
        </span>
      </td>
      <td data-label="Agent">{agent === undefined ? "–" : <SlotOwner object={agent} />}</td>
      <td data-label="Runs">{runs ?? "–"}</td>
      <td data-label="Memory">{memoryBytes === undefined ? "–" : formatBytes(memoryBytes)}</td>
      <td data-label="Restarts">{restarts === 0 ? "none" : formatCount(restarts, "restart")}</td>
    </tr>
  );
}

function SlotOwner({ object }: { object: string }) {
  const address = parseAddress(object);
  if (!address) return object;
  const {
    agency,
    path: [agent],
  } = address;
  return (
    <>
      <Link href={buildPath(agency, agent)}>{agent}</Link> <span className="faint">in {agency}</span>
    </>
  );
}
