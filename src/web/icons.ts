/** The few signs of the page, drawn: no font is sure to have them. */
import { svg } from './dom.ts';

const PATHS = {
  copy: 'M5.5 5.5h7v8h-7zM3.5 10.5h-1v-8h7v1',
  sun:
    'M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6M8 1v1.5M8 13.5v1.5M1 8h1.5M13.5 8h1.5' +
    'M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1',
  moon: 'M13.5 9.5a6 6 0 1 1-7-7 5 5 0 0 0 7 7z',
} as const;

export function icon(name: keyof typeof PATHS): SVGElement {
  const path = svg('path', { d: PATHS[name] });
  return svg('svg', { class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true' }, path);
}
