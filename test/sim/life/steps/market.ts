/** Steps of people and of the chain. */
import type { Life } from '../life.ts';
import type { TradeChoice } from '../ports.ts';
import { type StepKind, stepKind } from './kind.ts';

export const MARKET_STEPS: Readonly<Record<string, StepKind>> = {
  /** Orders, cancels, launches and locks for a while, each through a node that answers. */
  trade: stepKind({
    weight: 0,
    draw: (draw) => ({
      everyMs: draw.oneOf([4_000, 10_000, 30_000]),
      seed: draw.between(1, 1_000_000),
      forMs: draw.between(60_000, 600_000),
    }),
    apply: trade,
  }),
  fork: stepKind({
    weight: 4,
    draw: (draw) => ({
      depth: draw.oneOf([1, 2, 3, 10]),
      resubmit: draw.oneOf<'all' | 'none'>(['all', 'all', 'none']),
    }),
    apply(life, { depth, resubmit }) {
      life.deps.chain.fork(depth, resubmit);
    },
  }),
  mine: stepKind({
    weight: 2,
    draw: (draw) => ({ blocks: draw.between(1, 40) }),
    apply(life, { blocks }) {
      life.deps.chain.mine(blocks);
    },
  }),
  /** The devnet makes no block, and keeps no transaction. */
  devnetDiskFull: stepKind({
    weight: 2,
    alone: 1,
    draw: (draw) => ({ forMs: draw.duration() }),
    apply(life, { forMs }) {
      const { chain, disks } = life.deps;
      disks.fill(chain.directory);
      life.share('the disk of the devnet is full', forMs, () => disks.free(chain.directory));
    },
  }),
  cutFromChain: stepKind({
    weight: 4,
    draw: (draw) => ({ node: draw.node(), forMs: draw.duration() }),
    apply(life, { node: choice, forMs }) {
      const { name } = life.pick(choice);
      life.deps.chain.cut(name);
      const reached = life.chainCut.add(name);
      life.share(`${name} is cut off the chain`, forMs, () => {
        life.deps.chain.heal(name);
        reached();
      });
    },
  }),
};

const KINDS: readonly TradeChoice['kind'][] = ['buy', 'sell', 'buy', 'sell', 'cancel', 'lock'];
const MAX_TOKENS = 5;

/** The choices follow from the step's own seed, so that other steps do not change them. */
function trade(
  life: Life,
  { everyMs, seed, forMs }: { everyMs: number; seed: number; forMs: number },
): void {
  const { chain, clock, timeline } = life.deps;
  let state = seed;
  const next = (most: number) => {
    // Park and Miller: enough for choices, and it needs no object to carry on.
    state = (state * 48_271) % 2_147_483_647;
    return state % most;
  };
  const untilMs = clock.monotonicMs() + forMs;
  let busy = 0;
  const once = () => {
    if (clock.monotonicMs() > untilMs) return;
    clock.after(everyMs, once);
    const kind = chain.tokens.length === 0 ? 'launch' : drawKind(chain.tokens.length, next);
    const choice = { trader: next(8), token: next(50), amount: 3 + next(400), kind };
    const { living } = life;
    const node = living[next(Math.max(1, living.length))];
    // A node that answers nothing holds its callers for a while.
    if (node === undefined || busy >= MAX_TOKENS || life.isResting) return;
    busy += 1;
    const traded = chain.trade(choice, node).then((outcome) => {
      if (outcome === 'unanswered') timeline.note(node.name, `gave ${kind} no answer`);
    });
    void traded.finally(() => {
      busy -= 1;
    });
  };
  once();
}

function drawKind(tokens: number, next: (most: number) => number): TradeChoice['kind'] {
  if (tokens < MAX_TOKENS && next(40) === 0) return 'launch';
  return KINDS[next(KINDS.length)] ?? 'buy';
}
