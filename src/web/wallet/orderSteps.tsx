/** The way of an open order from the mempool to its fill, and how many blocks went by meanwhile. */
import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { ApiOrder } from '../../client/types.ts';
import type { PageContext } from '../context.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';

type Status = ApiOrder['status'];

/** Height of the chain when this page saw an order that was in no block; by the order's id. */
const seenAt = new Map<string, number>();
/** More than one places in an hour; the oldest is forgotten. */
const MAX_SEEN = 500;

/** An order that was on the chain already is not counted: the page did not see it begin. */
function startOf({ entityId, status }: ApiOrder, height: number | null): number | null {
  const known = seenAt.get(entityId);
  if (known !== undefined || height === null || status !== 'MempoolPending') return known ?? null;
  const [oldest] = seenAt.keys();
  if (seenAt.size >= MAX_SEEN && oldest !== undefined) seenAt.delete(oldest);
  seenAt.set(entityId, height);
  return height;
}

const heightOf = ({ health }: PageContext) => health.value?.tip.height ?? null;

export function OrderSteps({ order }: { readonly order: ApiOrder }) {
  const context = usePage();
  const { status, entityId } = order;
  const start = startOf(order, heightOf(context));
  const blocks = useMemo(
    () =>
      computed(() => {
        const now = heightOf(context);
        return start === null || now === null ? '' : t.orders.blocks(Math.max(0, now - start));
      }),
    [start],
  );
  const steps = stepsOf(status);
  const at = steps.indexOf(status);
  return (
    <span class="order-steps small" data-key={entityId}>
      <ol aria-label={t.orders.way}>
        {steps.map((step, index) => (
          <li
            key={step}
            class={index < at ? 'over' : ''}
            aria-current={index === at ? 'step' : undefined}
          >
            {t.states[step].name}
          </li>
        ))}
      </ol>
      <span class="dim">{blocks}</span>
    </span>
  );
}

function stepsOf(status: Status): readonly Status[] {
  if (status === 'MempoolRefunded') return ['MempoolPending', 'MempoolRefunded', 'Refunded'];
  const middle = status === 'Pending' ? status : 'MempoolEvaluated';
  return ['MempoolPending', middle, 'Evaluated'];
}
