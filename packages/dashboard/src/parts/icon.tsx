// Paths on a 16 × 16 grid with a stroke width of 1.5.
const shapes = {
  agency: "M2.5 14V7L8 2.5 13.5 7v7zM6.5 14v-3.5h3V14",
  agent: "M4.7 12.5a3 3 0 0 1-.5-5.96 4 4 0 0 1 7.7-.5 3.25 3.25 0 0 1-.2 6.46z",
  back: "M10 4L6 8l4 4",
  bars: "M2.5 13.5h11M4.5 11V7M8 11V3.5M11.5 11V8.5",
  branch: "M5 2.5v11M5 10a6 6 0 0 0 6-5M5 2.5h0M11 3.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z",
  chevron: "M6 4l4 4-4 4",
  clock: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 4.8V8l2.2 1.4",
  close: "M4 4l8 8M12 4l-8 8",
  download: "M8 2.5v7.5M5 7.2l3 3 3-3M2.5 13.5h11",
  down: "M8 3v9M4 8.5L8 12.5l4-4",
  logout: "M6.5 2.5h-4v11h4M6 8h8M11 5l3 3-3 3",
  file: "M4 1.5h5L12.5 5v9.5h-8.5zM9 1.5V5h3.5",
  folder: "M1.8 13V3.2h4.4l1.5 1.8h6.5v8z",
  fold: "M3 3h10M3 13h10M8 5v2.2M6.2 6L8 7.6 9.8 6M8 11V8.8M6.2 10L8 8.4l1.8 1.6",
  hand: "M4.2 9V4.6a.9.9 0 0 1 1.8 0V8M6 7.5V3a.9.9 0 0 1 1.8 0v4.5M7.8 7.5V3.6a.9.9 0 0 1 1.8 0V8M9.6 8V5a.9.9 0 0 1 1.8 0v5.2c0 2.3-1.5 3.8-3.6 3.8-1.9 0-2.9-.9-3.8-2.4L2.4 9a.9.9 0 0 1 1.5-.9l1 1.3",
  history: "M2.6 5.2A6 6 0 1 1 2 8.6M2.3 2.4v3.1h3.1M8 4.8V8l2.4 1.6",
  inbox: "M2 9.5l2-6.5h8l2 6.5v4H2zM2 9.5h3.6c.3 1.3 1.2 2 2.4 2s2.1-.7 2.4-2H14",
  hourglass: "M4 2h8M4 14h8M5 2v2.6L8 8l3-3.4V2M5 14v-2.6L8 8l3 3.4V14",
  menu: "M2 4h12M2 8h12M2 12h12",
  moon: "M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  person: "M8 2.5a2.6 2.6 0 1 1 0 5.2 2.6 2.6 0 0 1 0-5.2zM2.8 13.7c.5-2.7 2.6-4.2 5.2-4.2s4.7 1.5 5.2 4.2",
  more: "M3 7.6a.4.4 0 1 0 .01 0zM8 7.6a.4.4 0 1 0 .01 0zM13 7.6a.4.4 0 1 0 .01 0z",
  pencil: "M2.5 13.5l.7-3L11 2.7a1.2 1.2 0 0 1 1.7 0l.6.6a1.2 1.2 0 0 1 0 1.7L5.5 12.8zM9.8 3.9l2.3 2.3",
  play: "M5 3.2v9.6L12.5 8z",
  plus: "M8 3v10M3 8h10",
  prompt: "M3 4l4 4-4 4M8.5 12.5H13",
  question:
    "M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8zM6.2 6.3a1.8 1.8 0 1 1 2.7 1.6c-.6.4-.9.7-.9 1.4M8 11.4v.1",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.4 10.4l3.4 3.4",
  screen: "M2 3h12v8H2zM5.5 13.5h5",
  send: "M2.5 8L13.5 3l-4 10.5-2-4.5zM7.5 9l6-6",
  stop: "M4 4h8v8H4z",
  sun: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM8 1v1.4M8 13.6V15M1 8h1.4M13.6 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1",
  tool: "M13.2 4.4a3.2 3.2 0 0 1-4.2 4.2l-4.7 4.7a1.2 1.2 0 0 1-1.7-1.7l4.7-4.7a3.2 3.2 0 0 1 4.2-4.2L9.6 4.6l1.8 1.8z",
  webhook:
    "M6 4.8a2.3 2.3 0 1 1 3.6 1.9l2 3.4M4.4 13.4a2.3 2.3 0 1 1 .4-4.5M5 11.2h5.2a2.3 2.3 0 1 0 2-2.4M8 4.8L5.2 9.6",
  upload: "M8 10.5V3M5 5.8l3-3 3 3M2.5 13.5h11",
  undo: "M6 3L2.8 6.2 6 9.4M3 6.2h6.2a3.8 3.8 0 0 1 0 7.6H6.5",
  warning: "M8 2.2L14.4 13.4H1.6zM8 6.4v3.2M8 11.6v.1",
  trash: "M2.5 4h11M6 4V2.5h4V4M4 4l.7 9.5h6.6L12 4M6.7 7v4M9.3 7v4",
} as const;

export type IconName = keyof typeof shapes;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" data-icon={name}>
      <path d={shapes[name]} />
    </svg>
  );
}
