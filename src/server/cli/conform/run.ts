/** `conform URL`: tries each clause against a server and prints which promises it keeps. */
import { writeFile } from 'node:fs/promises';
import { Client } from '../../../client/index.ts';
import { decoderOf } from '../../../client/socket/frame.ts';
import { messageOf } from '../../../engine/runtime/errors.ts';
import { escapeMarkup } from '../../../engine/runtime/markup.ts';
import { DONE, FAILED } from '../commandContext.ts';
import type { ConformCommand } from '../commands/conform.ts';
import type { Clause } from './clause.ts';
import { EXACT_CLAUSES } from './exact.ts';
import { HTTP_CLAUSES } from './http.ts';
import { STREAM_CLAUSES } from './streams.ts';
import { Broken, Skipped, Target, type TargetDeps } from './target.ts';

export const CLAUSES: readonly Clause[] = [...STREAM_CLAUSES, ...EXACT_CLAUSES, ...HTTP_CLAUSES];

export interface Verdict {
  readonly id: string;
  readonly promise: string;
  readonly is: 'kept' | 'broken' | 'skipped';
  /** Why it is not kept. */
  readonly why: string;
}

type ConformDeps = Pick<TargetDeps, 'clock' | 'fetch'> & {
  readonly signal: AbortSignal;
  say(line: string): void;
  complain(line: string): void;
};

const ID_COLUMNS = 24;

/** Exit code: 0 where every clause that could be tried is kept. */
export async function runConform(command: ConformCommand, deps: ConformDeps): Promise<number> {
  const { url, mayChange, waitMs, badge } = command;
  const client = new Client({ url, clock: deps.clock });
  let asset: string | null = null;
  try {
    await client.server.time();
    const { data } = await client.tickers.list({ sort: 'lastTradeTime', limit: 1 });
    asset = data.items[0]?.asset ?? null;
  } catch (error) {
    // A server without tickers is judged by the others; a server that does not answer is not
    // judged.
    if (!('status' in Object(error)) || Object(error).status === null) {
      deps.complain(`${url}: ${messageOf(error)}`);
      return FAILED;
    }
  } finally {
    client.close();
  }
  const decode = { json: await decoderOf('json'), msgpack: await decoderOf('msgpack') };
  const target = { url, clock: deps.clock, fetch: deps.fetch, decode, asset, waitMs, mayChange };
  const verdicts: Verdict[] = [];
  for (const clause of CLAUSES) {
    if (deps.signal.aborted) break;
    const verdict = await judge(clause, target);
    verdicts.push(verdict);
    const why = verdict.why === '' ? '' : ` (${verdict.why})`;
    deps.say(`${verdict.is.padEnd(8)}${verdict.id.padEnd(ID_COLUMNS)}${verdict.promise}${why}`);
  }
  const count = (is: Verdict['is']) => verdicts.filter((verdict) => verdict.is === is).length;
  deps.say(`${count('kept')} kept, ${count('broken')} broken, ${count('skipped')} skipped`);
  if (badge !== null) await writeFile(badge, badgeOf(verdicts));
  return count('broken') === 0 && count('kept') > 0 ? DONE : FAILED;
}

export async function judge(clause: Clause, deps: TargetDeps): Promise<Verdict> {
  const { id, promise } = clause;
  const target = new Target(deps);
  try {
    await clause.check(target);
    return { id, promise, is: 'kept', why: '' };
  } catch (error) {
    const is = error instanceof Skipped ? 'skipped' : 'broken';
    const why = error instanceof Broken || error instanceof Skipped ? '' : 'no answer: ';
    return { id, promise, is, why: `${why}${messageOf(error)}` };
  } finally {
    target.close();
  }
}

const HEIGHT = 20;
const CHARACTER = 7;
const PADDING = 10;

/** `conforms | 58 of 60`: two boxes, as badges in a README are. */
function badgeOf(verdicts: readonly Verdict[]): string {
  const tried = verdicts.filter(({ is }) => is !== 'skipped');
  const kept = tried.filter(({ is }) => is === 'kept').length;
  const colour = kept === tried.length && kept > 0 ? '#15803d' : '#b91c1c';
  const [name, said] = ['upcurve contract', `${kept} of ${tried.length} kept`];
  const [left, right] = [name, said].map((text) => text.length * CHARACTER + PADDING);
  const width = (left ?? 0) + (right ?? 0);
  const text = (x: number, value: string) =>
    `<text x="${x}" y="14" text-anchor="middle">${escapeMarkup(value)}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" ` +
    `role="img" font-family="sans-serif" font-size="12" fill="#fff">` +
    `<title>${name}: ${said}</title>` +
    `<rect width="${left}" height="${HEIGHT}" fill="#404040"/>` +
    `<rect x="${left}" width="${right}" height="${HEIGHT}" fill="${colour}"/>` +
    `${text((left ?? 0) / 2, name)}${text((left ?? 0) + (right ?? 0) / 2, said)}</svg>\n`
  );
}
