export const defaultDays = 30;

const periods = [7, defaultDays, 90];

/** Over how many days one looks. */
export function PeriodSwitch({ days, onDays }: { days: number; onDays(days: number): void }) {
  return (
    <fieldset className="switch">
      <legend className="unseen">Period</legend>
      {periods.map((period) => (
        <label key={period}>
          <input
            type="radio"
            name="period"
            className="unseen"
            checked={period === days}
            onChange={() => onDays(period)}
          />
          <span>{period} days</span>
        </label>
      ))}
    </fieldset>
  );
}
