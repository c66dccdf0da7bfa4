/** A token's logo from this server; until it is there, or where there is none, one drawn here. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { hueOfAsset } from '../../engine/market/mainColour.ts';
import { onFirstMove } from '../firstMove.ts';

const CID = /^[A-Za-z0-9]{1,128}$/;
/** Logos that are not to be had: each is asked for once, wherever it would be shown. */
const missing = signal<ReadonlySet<string>>(new Set());

interface LogoOf {
  readonly asset: string;
  readonly ticker: string;
  readonly logoCID: string;
}

export function Logo({ asset, ticker, logoCID }: LogoOf) {
  const element = useRef<HTMLSpanElement>(null);
  const isSeen = useSignal(false);
  useEffect(() => {
    const show = () => {
      isSeen.value = true;
    };
    return element.current === null ? undefined : whenNear(element.current, show);
  }, []);
  // Two letters on a colour that comes from the asset id, so that it is always the same.
  const hue = hueOfAsset(asset);
  const letters = Array.from(ticker).slice(0, 2).join('').toUpperCase();
  return (
    <span ref={element} class="logo" aria-hidden="true">
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" fill={`hsl(${hue} 48% 40%)`} />
        <text x="16" y="21" text-anchor="middle" font-size="13" font-weight="700" fill="#fff">
          {letters}
        </text>
      </svg>
      {isSeen.value && CID.test(logoCID) && !missing.value.has(logoCID) && (
        <img
          key={logoCID}
          alt=""
          decoding="async"
          src={`/ipfs/${logoCID}`}
          onError={() => {
            missing.value = new Set([...missing.peek(), logoCID]);
          }}
        />
      )}
    </span>
  );
}

/** For canvases; null: it has none, or it cannot be decoded. */
export async function logoOf(logoCID: string): Promise<HTMLImageElement | null> {
  if (!CID.test(logoCID)) return null;
  const image = new Image();
  image.src = `/ipfs/${logoCID}`;
  try {
    await image.decode();
    return image;
  } catch {
    // The placeholder is drawn instead.
    return null;
  }
}

/**
 * Browsers load lazy images from several screens below: too many requests for a first view. Below
 * it, and behind the status line, logos come when the reader moves.
 */
const SEEN = '0px 0px -30px';
const NEAR = '600px';
const waiting = new Map<Element, () => void>();
let observer = observing(SEEN);
onFirstMove(() => {
  observer.disconnect();
  observer = observing(NEAR);
  for (const element of waiting.keys()) observer.observe(element);
});

function observing(rootMargin: string): IntersectionObserver {
  return new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) waiting.get(target)?.();
    },
    { rootMargin },
  );
}

/** Runs when the element is in view or near it; until the returned function is called. */
function whenNear(element: Element, run: () => void): () => void {
  const stop = () => {
    observer.unobserve(element);
    waiting.delete(element);
  };
  waiting.set(element, () => {
    stop();
    run();
  });
  observer.observe(element);
  return stop;
}
