/** The last look at an order in the page: opening it, reading its costs, signing. */
import assert from 'node:assert/strict';
import { parseAda } from '../../../src/client/trade/ada.ts';
import type { Visit } from '../support.ts';

export async function review({ page }: Visit, kind: 'buy' | 'sell'): Promise<void> {
  await page.locator('.quote[data-state=quote]').waitFor();
  await page.getByRole('button', { name: `Review ${kind}` }).click();
  await page.getByRole('button', { name: `Sign and ${kind}` }).waitFor();
}

export async function sign({ page }: Visit, kind: 'buy' | 'sell'): Promise<void> {
  await page.getByRole('button', { name: `Sign and ${kind}` }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });
}

/** Total to pay and what of it comes back, as the review says, in lovelace. */
export async function costsIn({ page }: Visit): Promise<readonly [bigint, bigint]> {
  const said = await page.locator('dialog').innerText();
  const amountOf = (name: string) => {
    const [, text = ''] = new RegExp(`^${name}\n([\\d.,]+) ADA$`, 'm').exec(said) ?? [];
    return parseAda(text.replaceAll(',', '')) ?? assert.fail(`no ${name} in ${said}`);
  };
  return [amountOf('Total to pay'), amountOf('Of which comes back')];
}
