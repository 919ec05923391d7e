import type { Agency } from "@thinkery/sdk";
import { getAgenciesSource } from "../api/agencies.ts";
import { call } from "../api/host.ts";
import { announce } from "../frame/announce.tsx";
import { navigate, homePath } from "../frame/navigation.ts";
import { formatCount } from "../parts/amount.ts";
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
    announce(`Agency ${agency.name} deleted.`);
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
        This deletes the agency and everything in it
        {agents > 0 && (
          <>
            , including <strong>{formatCount(agents, "agent")}</strong> and all {agents === 1 ? "its" : "their"} data
          </>
        )}
        . This cannot be undone.
      </p>
    </Confirm>
  );
}
