/** Types and settings of the simulated traders: `config/devnet.json`, under `traders`. */
import { readFileSync } from 'node:fs';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { assert } from '../engine/runtime/assert.ts';

const Percent = Type.Number({ minimum: 0, maximum: 100 });
const Range = Type.Tuple([Type.Number({ minimum: 0 }), Type.Number({ minimum: 0 })]);
const Count = Type.Integer({ minimum: 1, maximum: 1000 });
const Ada = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });
const Seconds = Type.Number({ minimum: 1 });

const TRADERS = Type.Object({
  seed: Type.String({ minLength: 1 }),
  wallets: Count,
  adaEach: Ada,
  outputsEach: Count,
  /** Below it a trader sells, but does not buy. */
  keepAda: Ada,
  /** Turns in flight. */
  mostAtOnce: Count,
  launches: Type.Object({
    atStart: Type.Integer({ minimum: 0, maximum: 100 }),
    everySeconds: Seconds,
    mostTokens: Count,
    initialBuyAda: Range,
    hypedPercent: Percent,
  }),
  orders: Type.Object({
    /** Mean time between turns, at pace 1. */
    everyMs: Type.Number({ minimum: 1 }),
    buyAda: Range,
    /**
     * Most of the supply that a wallet buys, in percent. Orders that are under way do not count.
     */
    mostHeldPercent: Percent,
    /** Percent of the holding. */
    sellPercent: Range,
    /** Share of the turns of a trader who could do both. */
    sellSharePercent: Percent,
    exactOutputPercent: Percent,
    cancelPercent: Percent,
    /** Buys that wait for a lower price, and for how long. */
    limitPercent: Percent,
    limitSeconds: Range,
  }),
  others: Type.Object({
    lockPercent: Percent,
    lockSeconds: Range,
    withdrawPercent: Percent,
    transferPercent: Percent,
    consolidateFromOutputs: Type.Integer({ minimum: 10, maximum: 1000 }),
  }),
});
export type TraderConfig = Static<typeof TRADERS>;

const FILE = new URL('../../config/devnet.json', import.meta.url);

/** Throws if the file that ships with the program is faulty. */
export function readTraderConfig(file: URL | string = FILE): TraderConfig {
  const found: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const traders: unknown =
    typeof found === 'object' && found !== null ? Reflect.get(found, 'traders') : undefined;
  const validator = Compile(TRADERS);
  const fault = validator.Errors(traders)[0];
  assert(
    fault === undefined,
    `${String(file)}: traders${fault?.instancePath ?? ''} ${fault?.message ?? ''}`,
  );
  // trust: checked by the schema that the type comes from
  return traders as TraderConfig;
}
