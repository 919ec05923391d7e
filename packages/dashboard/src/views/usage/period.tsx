export const defaultDays = 30;

const periods = [7, defaultDays, 90];

export function PeriodSwitch({ days, onDays }: { days: number; onDays(days: number): void }) {
  return (
    <fieldset className="switch">
      <legend className="visually-hidden">Period</legend>
      {periods.map((period) => (
        <label key={period}>
          <input
            type="radio"
            name="period"
            className="visually-hidden"
            checked={period === days}
            onChange={() => onDays(period)}
          />
          <span>{period} days</span>
        </label>
      ))}
    </fieldset>
  );
}
