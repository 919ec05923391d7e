import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { formatCost, formatCount, formatNumber, formatTokens } from "../../parts/amount.ts";
import type { Chart, Column } from "./chart.ts";

const height = 180;
/** Room above the highest bar. */
const topPadding = 8;
/** Keeps the smallest usage visible. */
const minBarHeight = 2;

const shortDate = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", month: "short", day: "numeric" });
const weekday = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", weekday: "short" });
const fullDate = new Intl.DateTimeFormat(undefined, {
  timeZone: "UTC",
  weekday: "long",
  month: "long",
  day: "numeric",
});

/**
 * A bar of tokens per day, split by model. Shows details of the day under the pointer or selected with the arrow keys.
 */
export function DayChart({ chart }: { chart: Chart }) {
  const { columns, models, top } = chart;
  const [selected, setSelected] = useState<number>();
  const last = columns.length - 1;
  const shown = Math.min(selected ?? last, last);
  const column = columns[shown];

  const selectByPointer = (event: PointerEvent<HTMLDivElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setSelected(Math.max(0, Math.min(last, Math.floor(((event.clientX - left) / width) * columns.length))));
  };
  const selectByKey = (event: KeyboardEvent) => {
    const next = {
      ArrowLeft: shown - 1,
      ArrowDown: shown - 1,
      ArrowRight: shown + 1,
      ArrowUp: shown + 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setSelected(Math.max(0, Math.min(last, next)));
  };

  return (
    <div className="day-chart">
      <p className="day-chart-summary">
        {column && <DayDetails column={column} models={models} today={shown === last} />}
      </p>
      <div className="day-chart-frame">
        <div className="day-chart-scale" aria-hidden="true">
          <span>{formatTokens(top)}</span>
          <span>{formatTokens(top / 2)}</span>
          <span>0</span>
        </div>
        <div
          className="day-chart-plot"
          role="slider"
          tabIndex={0}
          aria-label="Tokens by day"
          aria-valuemin={1}
          aria-valuemax={columns.length}
          aria-valuenow={shown + 1}
          aria-valuetext={
            column &&
            `${fullDate.format(Date.parse(column.day))}: ${formatNumber(column.total)} tokens, ${formatCount(column.calls, "call")}, ${formatCost(column.costUsd)}`
          }
          onKeyDown={selectByKey}
          onPointerMove={selectByPointer}
          onPointerDown={selectByPointer}
          // Touch leaves immediately, so the touched day stays selected.
          onPointerLeave={(event) => event.pointerType === "mouse" && setSelected(undefined)}
          onBlur={() => setSelected(undefined)}
        >
          <svg width="100%" height={height} aria-hidden="true">
            {[0, 0.5, 1].map((line) => (
              <line key={line} className="day-chart-line" x1="0" x2="100%" y1={toY(line)} y2={toY(line)} />
            ))}
            {columns.map((column, index) => (
              <Bar
                key={column.day}
                column={column}
                index={index}
                count={columns.length}
                top={top}
                selected={index === selected}
              />
            ))}
          </svg>
        </div>
        <DayLabels columns={columns} />
      </div>
      <ul className="legend">
        {models.map((model, index) => (
          <li key={model}>
            <span className="swatch" data-series={index} />
            {model}
          </li>
        ))}
      </ul>
    </div>
  );
}

function toY(share: number): number {
  return Math.round(height - 0.5 - share * (height - topPadding)) + 0.5 - 1;
}

interface BarProps {
  column: Column;
  index: number;
  count: number;
  top: number;
  selected: boolean;
}

function Bar({ column, index, count, top, selected }: BarProps) {
  const width = 100 / count;
  let share = 0;
  return (
    <g>
      {selected && (
        <rect className="day-chart-selected" x={`${index * width}%`} width={`${width}%`} y="0" height={height} />
      )}
      {column.parts.map((part, series) => {
        if (part === 0) return null;
        const bottom = toY(share / top);
        share += part;
        const size = Math.max(minBarHeight, bottom - toY(share / top));
        // Leave a gap of one pixel between models.
        const gap = series > 0 && bottom < toY(0) && size > 3 ? 1 : 0;
        return (
          <rect
            key={series}
            data-series={series}
            rx="1.5"
            x={`${(index + 0.14) * width}%`}
            width={`${0.72 * width}%`}
            y={bottom - size}
            height={size - gap}
          />
        );
      })}
    </g>
  );
}

function DayLabels({ columns }: { columns: readonly Column[] }) {
  const last = columns.length - 1;
  const interval = columns.length <= 7 ? 1 : columns.length <= 30 ? 7 : 21;
  return (
    <div className="day-chart-days" aria-hidden="true">
      {columns.map(({ day }, index) =>
        (last - index) % interval === 0 ? (
          <span
            key={day}
            style={{ left: `${((index + 0.5) * 100) / columns.length}%` }}
            data-last={index === last || undefined}
          >
            {interval === 1 ? weekday.format(Date.parse(day)) : shortDate.format(Date.parse(day))}
          </span>
        ) : null,
      )}
    </div>
  );
}

function DayDetails({ column, models, today }: { column: Column; models: readonly string[]; today: boolean }) {
  const used = models.map((model, index) => ({ model, part: column.parts[index] ?? 0 })).filter(({ part }) => part > 0);
  return (
    <>
      <strong>{today ? "Today" : fullDate.format(Date.parse(column.day))}</strong>{" "}
      {column.calls === 0 ? (
        <span className="faint">no usage</span>
      ) : (
        <>
          {formatTokens(column.total)} tokens · {formatCount(column.calls, "call")} · {formatCost(column.costUsd)}
          {used.length > 1 && (
            <span className="faint day-chart-models">
              {" "}
              {used.map(({ model, part }) => `${model} ${formatTokens(part)}`).join(", ")}
            </span>
          )}
        </>
      )}
    </>
  );
}
