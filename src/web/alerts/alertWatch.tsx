/**
 * Watches the prices that alerts are set on, on every view. When a price is reached, the page says
 * so, the browser notifies if the user allowed it, and a sound plays.
 */
import { useEffect } from 'preact/hooks';
import { formatPrice } from '../../engine/market/decimal.ts';
import type { PageContext } from '../context.ts';
import { shortPrice } from '../format.ts';
import { t } from '../messages.ts';
import { useMirror, usePage } from '../page.tsx';
import { routeHash } from '../route.ts';
import { alerts, isReached, type PriceAlert, removeAlert } from './alerts.ts';

export function AlertWatch() {
  const assets = [...new Set(alerts.value.map(({ asset }) => asset))];
  return (
    <>
      {assets.map((asset) => (
        <Watched key={asset} asset={asset} />
      ))}
    </>
  );
}

function Watched({ asset }: { readonly asset: string }) {
  const page = usePage();
  const followed = useMirror('pool', () => page.client.pool(asset), [asset]).value;
  const supply = page.network.value?.supply ?? null;
  // Data that is only kept from earlier triggers no alert.
  const pool = followed?.mirror.isClosed === false ? followed.mirror.state : null;
  const spot =
    pool === null || supply === null ? null : formatPrice(BigInt(pool.metrics.marketCap), supply);
  useEffect(() => {
    if (spot === null) return;
    for (const alert of alerts.value) {
      if (alert.asset !== asset || !isReached(alert, spot)) continue;
      removeAlert(alert);
      tell(page, alert, spot);
    }
  }, [spot, alerts.value]);
  return null;
}

function tell({ notify }: PageContext, alert: PriceAlert, spot: string): void {
  const { asset, ticker, direction, price } = alert;
  const text = t.alerts.reached[direction]({
    ticker,
    price: shortPrice(price),
    now: shortPrice(spot),
  });
  const href = routeHash({ at: 'token', asset });
  notify('good', text, { links: [{ href, label: ticker }], isWaiting: true });
  sound();
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return;
  try {
    const shown = new Notification(t.alerts.title, { body: text, tag: `${asset} ${price}` });
    shown.onclick = () => {
      focus();
      location.hash = href;
    };
  } catch {
    // Some phones only notify from a service worker: the page has said it.
  }
}

const TONES = [880, 1320];
const TONE_SECONDS = 0.15;
const VOLUME = 0.2;

/** Two tones; silent where the browser wants to be clicked first. */
function sound(): void {
  try {
    const audio = new AudioContext();
    const gain = audio.createGain();
    gain.gain.value = VOLUME;
    gain.connect(audio.destination);
    for (const [index, frequency] of TONES.entries()) {
      const tone = audio.createOscillator();
      tone.frequency.value = frequency;
      tone.connect(gain);
      tone.start(audio.currentTime + index * TONE_SECONDS);
      tone.stop(audio.currentTime + (index + 1) * TONE_SECONDS);
      if (index === TONES.length - 1) tone.onended = () => void audio.close();
    }
  } catch {
    // No sound on this machine: the page has said it.
  }
}
