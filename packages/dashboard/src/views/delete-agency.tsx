import type { Agency } from "@thinkery/sdk";
import { getAgenciesSource } from "../api/agencies.ts";
import { call } from "../api/host.ts";
import { announce } from "../frame/announce.tsx";
import { navigate, homePath } from "../frame/navigation.ts";
import { Confirm } from "../parts/confirm.tsx";

interface DeleteAgencyProps {
  agency: Agency;
  user: string;
  agents: number;
  onClose(): void;
}

export function DeleteAgency({ agency, user, agents, onClose }: DeleteAgencyProps) {
  const remove = async () => {
    await call("deleteAgency", { params: { agency: agency.id } });
    onClose();
    navigate(homePath, "replace");
    announce(`Agency ${agency.name} was deleted.`);
    await getAgenciesSource(user).reload();
  };

  return (
    <Confirm
      title={`Delete ${agency.name}?`}
      action="Delete agency"
      word={agents > 0 ? agency.id : undefined}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        The agency goes with everything in it
        {agents > 0 && (
          <>
            : <strong>{agents === 1 ? "one agent" : `${agents} agents`}</strong> and all{" "}
            {agents === 1 ? "it remembers" : "they remember"}
          </>
        )}
        . This cannot be undone.
      </p>
    </Confirm>
  );
}
