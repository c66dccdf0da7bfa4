/**
 * Legal actions and attacks, each tried on both builds unless it says on which; legal ones also
 * under mainnet's parameters of 2025.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Build } from '../../../src/cardano/validators/compile.ts';
import { PARAMETERS_544 } from '../../support/parameters.ts';
import { conformsToBlueprint } from './conforms.ts';
import { judge, type Plan, type Verdict } from './judge.ts';
import { BUILDS, type World, world } from './world.ts';

export function legal(
  name: string,
  plan: (world: World) => Plan,
  also: (
    verdict: Extract<Verdict, { accepted: true }>,
    world: World,
    context: TestContext,
  ) => void = () => {},
  builds: readonly Build[] = BUILDS,
): void {
  for (const build of builds) {
    test(`${name} (${build})`, async (context) => {
      const planned = plan(world(build));
      conformsToBlueprint(world(build), planned);
      const verdict = await judge(world(build), planned);
      if (!verdict.accepted) assert.fail(verdict.traces.at(-1) ?? verdict.error);
      for (const [redeemer, { mem, cpu }] of verdict.costs) {
        context.diagnostic(`${redeemer}: mem ${mem}, cpu ${cpu}, tx ${verdict.sizeBytes} bytes`);
      }
      also(verdict, world(build), context);
    });
  }
  if (!builds.includes('release')) return;
  test(`${name} (under the cost models of epoch 544)`, async () => {
    const verdict = await judge(world('release'), plan(world('release')), PARAMETERS_544);
    if (!verdict.accepted) assert.fail(verdict.traces.at(-1) ?? verdict.error);
  });
}

/** `check`: the last trace of the script that refused; null where a builtin fails wordlessly. */
export function attack(name: string, check: string | null, plan: (world: World) => Plan): void {
  for (const build of BUILDS) {
    test(`${name} is refused (${build})`, async () => {
      const verdict = await judge(world(build), plan(world(build)));
      assert.ok(!verdict.accepted, 'accepted');
      if (build === 'debug') assert.equal(verdict.traces.at(-1) ?? null, check, verdict.error);
    });
  }
}
