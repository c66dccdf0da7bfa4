/** The moment from which a visitor does more than look at the first screen. */
const MOVES = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'touchstart'] as const;

/** Runs once, with the first move of the pointer, a key, a wheel or a finger. */
export function onFirstMove(run: () => void): void {
  const stop = new AbortController();
  const moved = () => {
    stop.abort();
    run();
  };
  for (const move of MOVES) addEventListener(move, moved, { signal: stop.signal, passive: true });
}
