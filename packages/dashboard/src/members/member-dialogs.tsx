import { type Agency, type Scope, scopes, type UserMember } from "@thinkery/sdk";
import { useState } from "react";
import { call } from "../api/host.ts";
import { announce } from "../frame/announce.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";

const scopeLabels: Record<Scope, string> = {
  read: "Read everything",
  chat: "Write: messages, tasks, documents; includes reading",
  approve: "Approve what agents ask for",
  admin: "Administer: agents, blueprints, channels; includes all others",
};

interface MemberDialogProps {
  agency: string;
  /** Whom to change; a new person without it. */
  member: UserMember | undefined;
  onChanged(): Promise<void>;
  onClose(): void;
}

export function MemberDialog({ agency, member, onChanged, onClose }: MemberDialogProps) {
  const [chosen, setChosen] = useState<readonly Scope[]>(member?.scopes ?? ["chat"]);
  const save = async ({ user = member?.name ?? "" }: Record<string, string>) => {
    await call("putMember", { params: { agency, user }, body: { scopes: [...chosen] } });
    onClose();
    announce(member ? `What ${user} may do was changed.` : `${user} was added.`);
    await onChanged();
  };
  return (
    <Dialog title={member ? `What ${member.name} may do` : "Add person"} onClose={onClose}>
      <Form
        fields={["user", "scopes"]}
        action={member ? "Save" : "Add person"}
        ready={chosen.length > 0}
        onSubmit={save}
        onCancel={onClose}
      >
        {(errors) => (
          <>
            {!member && (
              <Field
                label="Name"
                error={errors.user}
                hint="A user of this host. The owner adds users: thinkery user add"
              >
                {(props) => (
                  <input
                    {...props}
                    name="user"
                    autoFocus
                    required
                    autoComplete="off"
                    autoCapitalize="off"
                    spellCheck={false}
                  />
                )}
              </Field>
            )}
            <fieldset className="scope-choices">
              <legend>May</legend>
              {scopes.map((scope) => (
                <label key={scope}>
                  <input
                    type="checkbox"
                    checked={chosen.includes(scope)}
                    onChange={({ target }) =>
                      setChosen(scopes.filter((one) => (one === scope ? target.checked : chosen.includes(one))))
                    }
                  />
                  {scopeLabels[scope]}
                </label>
              ))}
              {errors.scopes && <p className="field-error">{errors.scopes}</p>}
            </fieldset>
          </>
        )}
      </Form>
    </Dialog>
  );
}

interface RemoveMemberProps {
  agency: Agency;
  name: string;
  onChanged(): Promise<void>;
  onClose(): void;
}

export function RemoveMember({ agency, name, onChanged, onClose }: RemoveMemberProps) {
  const remove = async () => {
    await call("deleteMember", { params: { agency: agency.id, user: name } });
    onClose();
    announce(`${name} was removed.`);
    await onChanged();
  };
  return (
    <Confirm title={`Remove ${name}?`} action="Remove" onConfirm={remove} onClose={onClose}>
      <p>
        {name} can no longer use {agency.name}, and what they have open here is disconnected at once. What they wrote
        stays.
      </p>
    </Confirm>
  );
}
