/**
 * The page's services for components: the context, and mirrors of the client as signals.
 *
 * A mirror that changes a thousand times a second is written 15 times a second, and not at all in a
 * tab that is not looked at: it catches up in one step.
 */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import {
  Component,
  type ComponentChildren,
  type ComponentType,
  createContext,
  type FunctionComponent,
} from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import type { ApiError, Change, ConnectionState, Mirror } from '../client/index.ts';
import { assert } from '../engine/runtime/assert.ts';
import type { PageContext } from './context.ts';
import { cancelFrame, frames, nextFrame } from './frames.ts';
import { keep, recall, showAged } from './kept.ts';
import { paced } from './pace.ts';

const Context = createContext<PageContext | null>(null);

interface ProviderProps {
  readonly page: PageContext;
  readonly children: ComponentChildren;
}

export function PageProvider({ page, children }: ProviderProps) {
  return <Context.Provider value={page}>{children}</Context.Provider>;
}

/** For components: they are all below `PageProvider`. */
export function usePage(): PageContext {
  const page = useContext(Context);
  assert(page !== null, 'components are inside of a page');
  return page;
}

/** A component that renders again only where a property is another one: rows of long lists. */
export function memo<P extends object>(Inner: FunctionComponent<P>): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      return Object.entries(next).some(([name, value]) => Reflect.get(this.props, name) !== value);
    }

    override render() {
      return <Inner {...this.props} />;
    }
  };
}

/** Rows that a frame has room for. */
const STEP_ROWS = 10;

/** How many rows of a list are drawn: the first at once, the others in the next frames. */
export function useRowsInSteps(length: number): number {
  const drawn = useSignal(STEP_ROWS);
  const isWhole = drawn.value >= length;
  useEffect(() => {
    if (isWhole) return;
    const step = () => {
      drawn.value += STEP_ROWS;
    };
    nextFrame(step);
    return () => cancelFrame(step);
  }, [drawn.value, isWhole]);
  return drawn.value;
}

/** The state of a mirror; `error` where the server has refused it for good. */
export interface Followed<M> {
  readonly mirror: M;
  readonly isLoaded: boolean;
  readonly error: ApiError | null;
}

/**
 * Opens a mirror for as long as the component is there, and another one when an input changes.
 * null until the first one is open. The previous mirror's state stays until the next is loaded, so
 * that nothing flickers; the same holds for a view's state when the reader left it. `name` and
 * `inputs` name the mirror. Read `mirror.state` in the component: it is never changed in place.
 */
export function useMirror<M extends Mirror<unknown, Change>>(
  name: string,
  open: () => M,
  inputs: readonly unknown[],
): ReadonlySignal<Followed<M> | null> {
  const { clock, link } = usePage();
  const followed = useSignal<Followed<M> | null>(null);
  useEffect(() => {
    const key = JSON.stringify([name, ...inputs]);
    const known = recall<M>(key);
    const endAge = known === null ? () => {} : showAged(known);
    if (known !== null) followed.value = { mirror: known.value, isLoaded: true, error: null };
    const mirror = open();
    const show = () => {
      const { isLoaded, error } = mirror;
      if (isLoaded || error !== null || followed.peek() === null) {
        endAge();
        followed.value = { mirror, isLoaded, error };
      }
    };
    const pace = paced(clock, frames, show);
    mirror.onChange(() => pace.ask());
    mirror.onError(() => pace.ask());
    show();
    return () => {
      pace.end();
      endAge();
      if (mirror.isLoaded) keep(key, mirror, trueAtMs(link.peek(), clock.nowMs()));
      mirror.close();
    };
  }, inputs);
  return followed;
}

/** Until when what mirrors have was true. */
export function trueAtMs({ is, heardAtMs }: ConnectionState, nowMs: number): number {
  return is === 'open' ? nowMs : (heardAtMs ?? nowMs);
}
