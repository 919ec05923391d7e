import type { Package } from "@thinkery/sdk";
import { call } from "../api/host.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { announce } from "../frame/announce.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Form } from "../parts/form.tsx";
import { formatAgentCount } from "./package-table.tsx";

interface RollBackProps {
  agency: string;
  item: Package;
  /** The version that becomes the current one. */
  target: number;
  onRolledBack(): Promise<void>;
  onClose(): void;
}

/** Asks before an earlier version becomes the current one. Nothing is lost, so it is not a dangerous action. */
export function RollBack({ agency, item, target, onRolledBack, onClose }: RollBackProps) {
  const name = sanitizeText(item.displayName);
  const count = formatAgentCount(item.agents);
  const rollBack = async () => {
    await call("rollbackPackage", { params: { agency, package: item.name }, body: { version: target } });
    await onRolledBack();
    onClose();
    announce(`${name} runs version ${target}.`);
  };
  return (
    <Dialog title={`Roll back ${name} to version ${target}?`} onClose={onClose}>
      <Form fields={[]} action="Roll back" onSubmit={rollBack} onCancel={onClose}>
        {() => (
          <div className="dialog-text">
            <p>
              Version {target} replaces version {item.version} from the next message on
              {item.agents.length > 0 && `, for ${count} ${count === "1" ? "agent" : "agents"}`}. State, storage and
              settings stay as they are, and so do conversations and all versions.
            </p>
          </div>
        )}
      </Form>
    </Dialog>
  );
}
