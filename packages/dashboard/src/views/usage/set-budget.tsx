import type { Agency, BudgetKind, BudgetStatus } from "@thinkery/sdk";
import { setBudget } from "../../api/usage.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { parseBudget, formatLimit } from "./budget-input.ts";

interface SetBudgetProps {
  agency: Agency | undefined;
  /** What is limited now. */
  statuses: readonly BudgetStatus[];
  onDone(): Promise<void>;
  onClose(): void;
}

const kinds: [kind: BudgetKind, label: string, hint: string][] = [
  ["costUsd", "Cost", "US dollars, such as 5 or 0.50."],
  ["tokens", "Tokens", "In and out, such as 500000, 500k or 2M."],
  ["steps", "Calls to models", "Each step of a turn is one."],
  ["seconds", "Minutes", "Spent with models and tools."],
];

export function SetBudget({ agency, statuses, onDone, onClose }: SetBudgetProps) {
  const submit = async (values: Record<string, string>) => {
    await setBudget(agency?.id, parseBudget(values));
    await onDone();
  };

  return (
    <Dialog title={agency ? `Budget of ${agency.name}` : "Your budget"} onClose={onClose}>
      <p className="dialog-text">
        {agency ? "For all agents of this agency together." : "For all your agencies together."} What is left empty is
        not limited.
      </p>
      <Form
        fields={["per", ...kinds.map(([kind]) => kind)]}
        action="Set the budget"
        onSubmit={submit}
        onCancel={onClose}
      >
        {(problems) => (
          <>
            <Field label="Counted" problem={problems.per}>
              {(props) => (
                <select {...props} name="per" defaultValue={statuses[0]?.per ?? "day"}>
                  <option value="day">anew every day, from midnight UTC</option>
                  <option value="ever">for good, with all that was ever spent</option>
                </select>
              )}
            </Field>
            <div className="field-pairs">
              {kinds.map(([kind, label, hint]) => (
                <Field key={kind} label={label} optional problem={problems[kind]} hint={hint}>
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
