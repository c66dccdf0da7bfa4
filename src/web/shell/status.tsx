/**
 * Whether the page is connected, and how old it is when it is not: the line at the bottom, with the
 * choice of the language, and a banner that counts down to the next try.
 */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ConnectionState } from '../../client/index.ts';
import { age, timeOfDay } from '../format.ts';
import { oldestShownMs } from '../kept.ts';
import { keepLanguage, LANGUAGES, language } from '../language.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';

const TICK_MS = 250;

/** Wall time, every quarter of a second. */
function useNow(): number {
  const { clock } = usePage();
  const now = useSignal(clock.nowMs());
  useEffect(() => {
    let timer = clock.after(TICK_MS, tick);
    function tick(): void {
      now.value = clock.nowMs();
      timer = clock.after(TICK_MS, tick);
    }
    return () => timer.cancel();
  }, []);
  return now.value;
}

/**
 * The time up to which the shown data is valid; null: it is current. Before the first frame no data
 * can be old; a view that was left before the connection was lost is older than that.
 */
function lostSince({ is, heardAtMs }: ConnectionState): number | null {
  if (is === 'open' || heardAtMs === null) return null;
  return Math.min(heardAtMs, oldestShownMs.value ?? heardAtMs);
}

export function StatusLine() {
  const { link, health, network, client } = usePage();
  const state = link.value;
  const now = useNow();
  const lost = lostSince(state);
  const isOpen = state.is === 'open';
  useEffect(() => {
    document.documentElement.dataset.connection = lost === null ? 'open' : 'lost';
  }, [lost === null]);
  return (
    <footer class="status">
      <span class="dot" aria-hidden="true" />
      <span class="state">{wordsOf(state, now)}</span>
      {lost !== null && <span class="as-of long">{t.shell.showing}</span>}
      {lost !== null && <span class="as-of">{t.shell.asOf({ time: timeOfDay(lost / 1000) })}</span>}
      {/* Read out when it changes; the seconds that are counted are not. */}
      <span class="unseen" role="status">
        {lost === null ? t.shell.connected : t.shell.notConnected}
      </span>
      {state.is === 'waiting' && (
        <button type="button" class="retry" onClick={() => client.connection.connect()}>
          {t.shell.tryNow}
        </button>
      )}
      {isOpen && health.value !== null && <Node />}
      <span class="fact">{networkName(network.value?.name ?? '')}</span>
      <LanguageChoice />
      <a href="/docs">{t.shell.api}</a>
    </footer>
  );
}

/** Another language loads the page again. */
function LanguageChoice() {
  return (
    <select
      class="language"
      aria-label={t.shell.language}
      value={language}
      onChange={({ currentTarget }) => {
        const chosen = LANGUAGES.find(({ tag }) => tag === currentTarget.value);
        if (chosen === undefined) return;
        keepLanguage(chosen.tag);
        location.reload();
      }}
    >
      {LANGUAGES.map(({ tag, name }) => (
        <option key={tag} value={tag} lang={tag}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Node() {
  const health = usePage().health.value;
  if (health === null) return null;
  const { tip, stale, role, synced, node } = health;
  return (
    <>
      <span class={stale ? 'fact tip-fact warn' : 'fact tip-fact'}>
        {t.shell.tip({ ago: lagOf(tip.lagMs) })}
        {stale ? `, ${t.shell.silent}` : ''}
      </span>
      <span class="fact">
        <span class="node-name">{node} · </span>
        {role}
        {synced ? '' : `, ${t.shell.syncing}`}
      </span>
    </>
  );
}

/** Shown above the data while the data is old. */
export function OutageBanner() {
  const { link, client } = usePage();
  const state = link.value;
  const lost = lostSince(state);
  const now = useNow();
  if (lost === null) return null;
  const since = age((now - lost) / 1000);
  return (
    <div class="outage">
      <span>
        <strong>{t.shell.outage}</strong> {t.shell.outageAge({ age: since })}{' '}
        {state.is === 'waiting' && t.shell.nextTry({ seconds: secondsLeft(state, now) })}
      </span>
      {state.is === 'waiting' && (
        <button type="button" class="button" onClick={() => client.connection.connect()}>
          {t.shell.tryNow}
        </button>
      )}
    </div>
  );
}

/** As long as the server accepts no transactions. */
export function WaitingBanner() {
  const { health, link } = usePage();
  const { submits = true, reasons = [] } = health.value ?? {};
  if (submits || link.value.is !== 'open') return null;
  return (
    <div class="outage" role="status">
      <span>
        <strong>{t.shell.waits}</strong> {t.shell.waitsFor({ codes: reasons.join(', ') })}
      </span>
    </div>
  );
}

function secondsLeft({ retryAtMs }: ConnectionState, nowMs: number): number {
  return Math.max(0, Math.ceil(((retryAtMs ?? nowMs) - nowMs) / 1000));
}

function wordsOf(state: ConnectionState, nowMs: number): string {
  if (state.is === 'open') return t.shell.live;
  if (state.is === 'connecting' || state.is === 'idle') return t.shell.connecting;
  if (state.is === 'closed') return t.shell.closed({ why: state.why ?? '' });
  return t.shell.reconnecting({ seconds: secondsLeft(state, nowMs) });
}

function networkName(name: string): string {
  return name === 'none' ? t.shell.replay : name;
}

function lagOf(lagMs: number | null): string {
  if (lagMs === null) return t.shell.unknown;
  return lagMs < 100_000
    ? t.shell.ago({ seconds: (Math.max(0, lagMs) / 1000).toFixed(1) })
    : t.shell.longAgo;
}
