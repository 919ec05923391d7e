import type { ListedBlueprint } from "@thinkery/sdk";
import { Empty } from "../parts/empty.tsx";
import { MessageText } from "../parts/message-text.tsx";
import { Notice } from "../parts/notice.tsx";

export function BlueprintList({ blueprints }: { blueprints: ListedBlueprint[] }) {
  if (blueprints.length === 0) {
    return (
      <Empty title="No blueprints">
        <p>A blueprint defines an agent: its instructions, tools and model.</p>
      </Empty>
    );
  }
  return (
    <ul className="blueprints">
      {blueprints.map((blueprint) => (
        <li key={blueprint.name}>
          <div className="blueprint-head">
            <h3>{blueprint.name}</h3>
            <ul className="badges">
              <li className="badge">{blueprint.source === "static" ? "built-in" : "custom"}</li>
              {blueprint.model && <li className="badge mono">{blueprint.model}</li>}
              {Object.entries(blueprint.models ?? {}).map(([role, model]) => (
                <li key={role} className="badge">
                  <span className="faint">{role}</span> <span className="mono">{model}</span>
                </li>
              ))}
              {blueprint.tags.map((tag) => (
                <li key={tag} className="badge faint">
                  #{tag}
                </li>
              ))}
            </ul>
          </div>
          {blueprint.description && <p>{blueprint.description}</p>}
          {blueprint.warnings && blueprint.warnings.length > 0 && (
            <Notice tone="warn">
              {blueprint.warnings.map((warning) => (
                <p key={warning}>
                  <MessageText text={warning} />
                </p>
              ))}
            </Notice>
          )}
          {blueprint.prompt && (
            <details>
              <summary>Instructions</summary>
              <pre className="text">{blueprint.prompt}</pre>
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}
