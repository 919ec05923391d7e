import type { Package } from "@thinkery/sdk";
import { call } from "../api/host.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { announce } from "../frame/announce.tsx";
import { Link } from "../frame/link.tsx";
import { buildPackagePath, buildPath, navigate } from "../frame/navigation.ts";
import { Confirm } from "../parts/confirm.tsx";

interface DeletePackageProps {
  agency: string;
  item: Package;
  onClose(): void;
}

export function DeletePackage({ agency, item: { name, displayName, agents }, onClose }: DeletePackageProps) {
  const title = sanitizeText(displayName);
  const remove = async () => {
    await call("deletePackage", { params: { agency, package: name } });
    onClose();
    navigate(buildPackagePath(agency), "replace");
    announce(`Package ${title} deleted.`);
  };
  return (
    <Confirm title={`Delete ${title}?`} action="Delete package" onConfirm={remove} onClose={onClose}>
      <p>This deletes the package with all its versions and its blueprint. This cannot be undone.</p>
      {agents.length > 0 && (
        <p>
          Delete the agents that run it first:{" "}
          {agents.map((agent, index) => (
            <span key={agent}>
              {index > 0 && ", "}
              <Link href={buildPath(agency, agent)}>{agent}</Link>
            </span>
          ))}
        </p>
      )}
    </Confirm>
  );
}
