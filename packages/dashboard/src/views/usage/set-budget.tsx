import type { Agency, BudgetKind, BudgetStatus } from "@thinkery/sdk";
import { setBudget } from "../../api/usage.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { parseBudget, formatLimit } from "./budget-input.ts";

interface SetBudgetProps {
  agency: Agency | undefined;
  /** The current limits. */
  statuses: readonly BudgetStatus[];
  onDone(): Promise<void>;
  onClose(): void;
}

const kinds: [kind: BudgetKind, label: string, hint: string][] = [
  ["costUsd", "Cost", "US dollars, e.g. 5 or 0.50"],
  ["tokens", "Tokens", "Input and output, e.g. 500000, 500k or 2M"],
  ["steps", "Model calls", "Each step of a turn is one call"],
  ["seconds", "Minutes", "Time in model and tool calls"],
];

export function SetBudget({ agency, statuses, onDone, onClose }: SetBudgetProps) {
  const submit = async (values: Record<string, string>) => {
    await setBudget(agency?.id, parseBudget(values));
    await onDone();
  };

  return (
    <Dialog title={agency ? `Budget for ${agency.name}` : "Your budget"} onClose={onClose}>
      <p className="dialog-text">
        {agency ? "Shared by all agents in this agency." : "Shared by all your agencies."} Leave a field empty for no
        limit.
      </p>
      <Form fields={["per", ...kinds.map(([kind]) => kind)]} action="Save" onSubmit={submit} onCancel={onClose}>
        {(errors) => (
          <>
            <Field label="Period" error={errors.per}>
              {(props) => (
                <select {...props} name="per" defaultValue={statuses[0]?.per ?? "day"}>
                  <option value="day">Resets daily at midnight UTC</option>
                  <option value="ever">Never resets</option>
                </select>
              )}
            </Field>
            <div className="field-pairs">
              {kinds.map(([kind, label, hint]) => (
                <Field key={kind} label={label} optional error={errors[kind]} hint={hint}>
                  {(props) => (
                    <input
                      {...props}
                      name={kind}
                      inputMode="decimal"
                      autoComplete="off"
                      spellCheck={false}
                      defaultValue={formatLimit(
                        kind,
                        statuses.find((budgetStatus) => budgetStatus.kind === kind)?.limit,
                      )}
                    />
                  )}
                </Field>
              ))}
            </div>
          </>
        )}
      </Form>
    </Dialog>
  );
}
