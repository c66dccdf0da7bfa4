/**
 * The status line at the bottom: whether the page is connected, how far the tip is
 * behind, which node answers in which role. Without a server it says how old the page is.
 */
import type { ConnectionState } from '../../client/index.ts';
import type { HealthData } from '../../client/types.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Network } from '../context.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { timeOfDay } from '../format.ts';

const TICK_MS = 250;

interface StatusDeps {
  readonly clock: Clock;
  state(): ConnectionState;
  health(): HealthData | null;
  network(): Network | null;
  retry(): void;
}

export class StatusLine {
  readonly element: HTMLElement;
  readonly #deps: StatusDeps;
  readonly #state = el('span', { class: 'state' });
  /** Read out when it changes; the seconds that are counted are not. */
  readonly #announced = el('span', { class: 'unseen', role: 'status' });
  readonly #asOf = el('span', { class: 'as-of' });
  readonly #old = el('span', { class: 'as-of long' }, 'showing the market');
  readonly #retry = el('button', { type: 'button', class: 'retry' }, 'Try now');
  readonly #tip = el('span', { class: 'fact tip-fact' });
  readonly #nodeName = el('span', { class: 'node-name' });
  readonly #role = el('span', {});
  readonly #network = el('span', { class: 'fact' });

  constructor(deps: StatusDeps) {
    this.#deps = deps;
    this.#retry.addEventListener('click', () => deps.retry());
    const links = el('a', { href: '/docs' }, 'API');
    const dot = el('span', { class: 'dot', 'aria-hidden': 'true' });
    this.element = el('footer', { class: 'status' }, dot, this.#state, this.#old, this.#asOf);
    const node = el('span', { class: 'fact' }, this.#nodeName, this.#role);
    this.element.append(this.#announced, this.#retry, this.#tip, node, this.#network, links);
    this.#tick();
  }

  #tick(): void {
    this.show();
    this.#deps.clock.after(TICK_MS, () => this.#tick());
  }

  show(): void {
    const { clock } = this.#deps;
    const state = this.#deps.state();
    const health = this.#deps.health();
    const isOpen = state.is === 'open';
    // Before the first frame there is nothing that could be old.
    const isLost = !isOpen && state.heardAtMs !== null;
    setAttribute(document.documentElement, 'data-connection', isLost ? 'lost' : 'open');
    setText(this.#state, this.#words(state, clock.nowMs()));
    setText(this.#announced, isLost ? 'Not connected: the page is out of date' : 'Connected');
    const heard = isLost ? state.heardAtMs : null;
    setText(this.#asOf, heard === null ? '' : `as of ${timeOfDay(heard / 1000)}`);
    this.#old.hidden = heard === null;
    this.#retry.hidden = state.is !== 'waiting';
    const lag = health?.tip.lagMs ?? null;
    const stale = health?.stale === true ? ', source silent' : '';
    setText(this.#tip, isOpen && health !== null ? `tip ${lagOf(lag)}${stale}` : '');
    this.#tip.classList.toggle('warn', health?.stale === true);
    const role = health === null ? '' : `${health.role}${health.synced ? '' : ', syncing'}`;
    setText(this.#nodeName, isOpen && health !== null ? `${health.node} · ` : '');
    setText(this.#role, isOpen ? role : '');
    const network = this.#deps.network()?.name ?? '';
    setText(this.#network, network === 'none' ? 'replay' : network);
  }

  #words(state: ConnectionState, nowMs: number): string {
    if (state.is === 'open') return 'Live';
    if (state.is === 'connecting' || state.is === 'idle') return 'Connecting…';
    if (state.is === 'closed') return `Disconnected: ${state.why ?? ''}`;
    const seconds = Math.max(0, Math.ceil(((state.retryAtMs ?? nowMs) - nowMs) / 1000));
    return `Reconnecting in ${seconds} s`;
  }
}

function lagOf(lagMs: number | null): string {
  if (lagMs === null) return 'unknown';
  return lagMs < 100_000 ? `${(Math.max(0, lagMs) / 1000).toFixed(1)} s ago` : 'long ago';
}
