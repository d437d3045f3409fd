/** The page's few pictures: strokes of one width, in the colour of the text. */

const PATHS = {
  chat: "M4 5h16v11H9l-5 4z",
  memory: "M6 4h12v16l-6-4-6 4z",
  recall: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zm5 12 4 4",
  time: "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zm0 4v4l3 2",
  graph: "M6 7a2 2 0 1 0 0-.01M18 9a2 2 0 1 0 0-.01M10 18a2 2 0 1 0 0-.01M8 7.5l8 1M7 9l2.5 7M16.7 10.7 11.5 16.5",
  review: "M5 4h14v16H5zM8.5 12l2.5 2.5 4.5-5",
  form: "M13 3 5 14h6l-1 7 8-11h-6z",
  types: "M8 4c-3 0-2 5-2 6s-1 2-2 2c1 0 2 1 2 2s-1 6 2 6m8-16c3 0 2 5 2 6s1 2 2 2c-1 0-2 1-2 2s1 6-2 6",
  settings: "M4 7h9m5 0h2M4 17h3m5 0h8M15.5 4.5v5M9.5 14.5v5",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  whole: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  close: "M6 6l12 12M18 6 6 18",
  back: "M14 6l-6 6 6 6",
  send: "M5 12h13m-6-6 6 6-6 6",
  stop: "M7 7h10v10H7z",
  link: "M9 15l6-6M8 10l-2 2a3.5 3.5 0 0 0 5 5l2-2m3-1 2-2a3.5 3.5 0 0 0-5-5l-2 2",
  undo: "M8 5 4 9l4 4M4 9h9a5 5 0 0 1 0 10H9",
  edit: "M5 19l1-4L16 5l3 3L9 18z",
  warn: "M12 4 3 19h18zM12 10v4m0 2.5v.5",
  home: "M4 11.5 12 5l8 6.5M6.5 10v9h11v-9M10.5 19v-5h3v5",
  look: "M3.5 12c2.5-4.5 5.5-6.5 8.5-6.5s6 2 8.5 6.5c-2.5 4.5-5.5 6.5-8.5 6.5s-6-2-8.5-6.5zM12 9.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z",
  compare: "M4 5h6v14H4zM14 5h6v14h-6z",
  api: "M8 6l-5 6 5 6M16 6l5 6-5 6M13.5 5l-3 14",
  copy: "M9 9h10v11H9zM5 15V4h10",
  upload: "M12 16V5m-4.5 4L12 4.5 16.5 9M5 15v4.5h14V15",
  more: "M6 12a.7.7 0 1 0 0-.01M12 12a.7.7 0 1 0 0-.01M18 12a.7.7 0 1 0 0-.01",
  erase: "M5 7h14M9.5 7V4.5h5V7M7 7l1 12.5h8L17 7M10.5 10.5v5.5M13.5 10.5v5.5",
  done: "M5 12.5l4.5 4.5L19 7.5",
} as const;

/** The signs of the usual memory types, drawn to be read at 14 pixels. */
const SIGNS = {
  person: "M12 5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM5 20c.7-4 3.4-5.5 7-5.5s6.3 1.5 7 5.5",
  fact: "M6.5 9.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM17.5 9.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM9 12h6",
  note: "M6 4.5h8.5L18 8v11.5H6zM9 11h6M9 15h6",
  rule: "M5 5.5h14v10h-7l-4 3.5v-3.5H5zM9 9.5h6",
  thing: "M12 4l7 4v8l-7 4-7-4V8zM5 8l7 4 7-4M12 12v8",
  example: "M9 4.5h6M10 4.5v5L5.5 18.5a1.3 1.3 0 0 0 1.2 2h10.6a1.3 1.3 0 0 0 1.2-2L14 9.5v-5",
} as const;

export function SignIcon({ name }: { name: keyof typeof SIGNS }) {
  return <svg className="icon" viewBox="0 0 24 24"><path d={SIGNS[name]} /></svg>;
}

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
