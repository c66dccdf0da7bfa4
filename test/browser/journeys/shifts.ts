/** Parts of the page that moved while it loaded, without anybody touching it. */
import type { Page } from 'playwright-core';

/** Before the page is opened: notes what shifts, and from where to where. */
export async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(`
    globalThis.shifts = [];
    new PerformanceObserver((list) => {
      for (const { sources } of list.getEntries()) {
        for (const { node, previousRect, currentRect } of sources) {
          const part = node?.parentElement?.closest('.place > *') ?? node;
          const name = part?.className ?? '';
          shifts.push({ name, fromY: previousRect.y, toY: currentRect.y });
        }
      }
    }).observe({ type: 'layout-shift', buffered: true });
  `);
}

/** A token's header and the columns below it: up or down. */
export async function headerShifts(page: Page): Promise<readonly unknown[]> {
  const all = await page.evaluate<readonly Shift[]>('shifts');
  const isHeader = ({ name }: Shift) => name === 'token-head' || name === 'token-columns';
  return all.filter((shift) => isHeader(shift) && shift.fromY !== shift.toY);
}

interface Shift {
  readonly name: string;
  readonly fromY: number;
  readonly toY: number;
}
