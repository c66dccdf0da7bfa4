/** The few signs of the page, drawn: no font is sure to have them. */
const PATHS = {
  copy: 'M5.5 5.5h7v8h-7zM3.5 10.5h-1v-8h7v1',
  sun:
    'M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6M8 1v1.5M8 13.5v1.5M1 8h1.5M13.5 8h1.5' +
    'M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1',
  moon: 'M13.5 9.5a6 6 0 1 1-7-7 5 5 0 0 0 7 7z',
  table: 'M2.5 3.5h11M2.5 8h11M2.5 12.5h11',
  board: 'M2.5 2.5h3v11h-3zM6.5 2.5h3v8h-3zM10.5 2.5h3v5h-3z',
  halves: 'M8 2a6 6 0 1 0 0 12a6 6 0 0 0 0-12zM8 2v12M8 5l4-1.5M8 8h6M8 11l4 1.5',
  bell: 'M3.5 11.5h9l-1.2-1.8V7a3.3 3.3 0 0 0-6.6 0v2.7zM6.7 13.2a1.4 1.4 0 0 0 2.6 0M8 3.7V2.2',
  check: 'M3 8.5l3.2 3.2L13 4.8',
  grow: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  shrink: 'M6 2.5V6H2.5M13.5 6H10V2.5M10 13.5V10h3.5M2.5 10H6v3.5',
  share: 'M8 9.5V2.5M5.2 5L8 2.2 10.8 5M3 8v5.5h10V8',
  caution: 'M8 2.2l6.3 11.3H1.7zM8 6.4v3.4M8 11.6v.4',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
