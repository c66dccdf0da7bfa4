/**
 * Whether the page is connected, and how old it is when it is not: the line at the bottom, with the
 * choice of the language, and a banner that counts down to the next try.
 */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ConnectionState } from '../../client/index.ts';
import { age, localized, shortMoment, shortTime, timeOfDay } from '../format.ts';
import { oldestShownMs } from '../kept.ts';
import { keepLanguage, LANGUAGES, language } from '../language.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';

const TICK_MS = 250;
const DAY_MS = 86_400_000;
/** Up to when the market's past was recorded, Unix ms; 0: it has no such past. */
const LIVE_SINCE = Number(document.documentElement.dataset.liveSince ?? 0);

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

/** A connection that looks open says something each second. */
const LATE_MS = 3_000;
const LOST_MS = 10_000;

interface Heard {
  readonly state: ConnectionState;
  readonly nowMs: number;
  /** Since the last message, by the clock of this browser; null before the first one. */
  readonly silentMs: number | null;
  /**
   * The time up to which the shown data is valid; null: it is current. Before the first frame no
   * data can be old; a view that was left before the connection was lost is older than that.
   */
  readonly lostAtMs: number | null;
}

function useHeard(): Heard {
  const { link, healthAtMs } = usePage();
  const nowMs = useNow();
  const state = link.value;
  if (state.heardAtMs === null) return { state, nowMs, silentMs: null, lostAtMs: null };
  const heardAtMs = Math.max(state.heardAtMs, healthAtMs.value ?? 0);
  const silentMs = Math.max(0, nowMs - heardAtMs);
  const isCurrent = state.is === 'open' && silentMs < LOST_MS;
  const lostAtMs = isCurrent ? null : Math.min(heardAtMs, oldestShownMs.value ?? heardAtMs);
  return { state, nowMs, silentMs, lostAtMs };
}

function freshnessOf({ silentMs }: Heard): 'none' | 'fresh' | 'late' | 'old' {
  if (silentMs === null) return 'none';
  if (silentMs < LATE_MS) return 'fresh';
  return silentMs < LOST_MS ? 'late' : 'old';
}

export function StatusLine() {
  const { health, network, client } = usePage();
  const heard = useHeard();
  const { state, lostAtMs: lost } = heard;
  const isOpen = state.is === 'open';
  useEffect(() => {
    document.documentElement.dataset.connection = lost === null ? 'open' : 'lost';
  }, [lost === null]);
  return (
    <footer class="status" data-freshness={freshnessOf(heard)}>
      <span class="dot" aria-hidden="true" />
      <span class="state">{wordsOf(heard)}</span>
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
      {isOpen && health.value !== null && <Node silentMs={heard.silentMs ?? 0} />}
      <span class="fact">{networkName(network.value?.name ?? '')}</span>
      {LIVE_SINCE > 0 && <Recorded nowMs={heard.nowMs} />}
      <LanguageChoice />
      <a href="/docs">{t.shell.api}</a>
    </footer>
  );
}

/** The market's past up to a moment is a recording. */
function Recorded({ nowMs }: { readonly nowMs: number }) {
  const write = nowMs - LIVE_SINCE < DAY_MS ? shortTime : shortMoment;
  return (
    <span class="fact recorded" title={t.shell.recordedMore}>
      {t.shell.recorded({ time: write(LIVE_SINCE / 1000) })}
    </span>
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

function Node({ silentMs }: { readonly silentMs: number }) {
  const health = usePage().health.value;
  if (health === null) return null;
  const { tip, stale, role, synced, node } = health;
  return (
    <>
      <span class={stale ? 'fact tip-fact warn' : 'fact tip-fact'}>
        {t.shell.tip({ ago: lagOf(tip.lagMs, silentMs) })}
        {stale ? `, ${t.shell.silent}` : ''}
      </span>
      <span class="fact node-fact">
        <span class="node-name">{node} · </span>
        {role}
        {synced ? '' : `, ${t.shell.syncing}`}
      </span>
    </>
  );
}

/** Shown above the data while the data is old. */
export function OutageBanner() {
  const { client } = usePage();
  const { state, nowMs, lostAtMs } = useHeard();
  if (lostAtMs === null) return null;
  const since = age((nowMs - lostAtMs) / 1000);
  return (
    <div class="outage">
      <span>
        <strong>{t.shell.outage}</strong> {t.shell.outageAge({ age: since })}{' '}
        {state.is === 'waiting' && t.shell.nextTry({ seconds: secondsLeft(state, nowMs) })}
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

function wordsOf({ state, nowMs, silentMs }: Heard): string {
  if (state.is === 'open') {
    if (silentMs === null || silentMs < LATE_MS) return t.shell.live;
    return t.shell.silentFor({ seconds: Math.floor(silentMs / 1000) });
  }
  if (state.is === 'connecting' || state.is === 'idle') return t.shell.connecting;
  if (state.is === 'closed') return t.shell.closed({ why: state.why ?? '' });
  return t.shell.reconnecting({ seconds: secondsLeft(state, nowMs) });
}

function networkName(name: string): string {
  return name === 'none' ? t.shell.replay : name;
}

/** The lag that the node reported, plus the time since that report. */
function lagOf(lagMs: number | null, silentMs: number): string {
  if (lagMs === null) return t.shell.unknown;
  const ms = Math.max(0, lagMs) + silentMs;
  return ms < 100_000
    ? t.words.ago({ age: `${localized((ms / 1000).toFixed(1))} ${t.words.units.s}` })
    : t.shell.longAgo;
}
