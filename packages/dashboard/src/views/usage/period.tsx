import { Switch } from "../../parts/switch.tsx";

export const defaultDays = 30;

const periods = [7, defaultDays, 90].map((days) => [days, `${days} days`] as const);

export function PeriodSwitch({ days, onDays }: { days: number; onDays(days: number): void }) {
  return <Switch label="Period" options={periods} value={days} onChange={onDays} />;
}
