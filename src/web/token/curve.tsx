/** The curve as a picture, how far it is filled, and what happens when it is full. */
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { Panel } from '../components/panel.tsx';
import { ada, ends, localized, percent } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { CurvePicture } from './curvePicture.tsx';

export function Curve({ pool }: { readonly pool: LiquidityPoolInfo }) {
  const filled = progressOf(pool);
  const supply = usePage().network.value?.supply ?? null;
  const { x, adaCapThreshold, cpmmPoolId } = pool.pool;
  const isOver = cpmmPoolId !== null;
  const left = BigInt(adaCapThreshold) - BigInt(x.amount);
  const words = isOver ? t.token.graduated : left <= 0n ? t.token.full : t.token.onTheCurve;
  return (
    <Panel
      class="curve"
      title={isOver ? t.home.graduated : t.token.graduation}
      side={<span class="side">{isOver ? t.token.inPool : `${localized(filled)}%`}</span>}
    >
      {supply !== null && <CurvePicture pool={pool} supply={supply} />}
      {!isOver && (
        <div
          class="meter tall"
          role="progressbar"
          aria-label={t.token.graduation}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Number(filled)}
          style={{ '--filled': `${filled}%` }}
        >
          <span />
        </div>
      )}
      <div class="inside stack">
        <p class="curve-line">
          {isOver
            ? t.token.ammHolds({ coins: ada(x.amount, 0) })
            : t.token.filled({ coins: ada(x.amount), cap: ada(adaCapThreshold, 0) })}
        </p>
        {!isOver && left > 0n && <p class="small">{t.token.missing({ coins: ada(left, 0) })}</p>}
        <p class="dim small">{words}</p>
        {cpmmPoolId !== null && (
          <p class="dim small">
            {t.token.poolId}{' '}
            <span class="code" title={cpmmPoolId}>
              {ends(cpmmPoolId, 10)}
            </span>
          </p>
        )}
      </div>
    </Panel>
  );
}

/** `12.34` of a hundred; graduated pools are at 100 for good. */
function progressOf({ pool }: LiquidityPoolInfo): string {
  const cap = BigInt(pool.adaCapThreshold);
  const filled = BigInt(pool.x.amount);
  return pool.cpmmPoolId !== null || filled >= cap ? '100' : percent(filled, cap);
}
