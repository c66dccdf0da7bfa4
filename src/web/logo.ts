/** A token's logo from this server; until it is there, or where there is none, one drawn here. */
import { el, svg } from './dom.ts';

const CID = /^[A-Za-z0-9]{1,128}$/;

interface LogoOf {
  readonly asset: string;
  readonly ticker: string;
  readonly logoCID: string;
}

export function logo(): { readonly element: HTMLElement; show(token: LogoOf): void } {
  const element = el('span', { class: 'logo', 'aria-hidden': 'true' });
  let shown = '';
  return {
    element,
    show(token) {
      const key = `${token.asset} ${token.logoCID} ${token.ticker}`;
      if (key === shown) return;
      shown = key;
      element.replaceChildren(drawn(token));
      if (!CID.test(token.logoCID)) return;
      const image = el('img', { alt: '', loading: 'lazy', decoding: 'async' });
      image.addEventListener('error', () => image.remove());
      image.src = `/ipfs/${token.logoCID}`;
      element.append(image);
    },
  };
}

/** Two letters on a colour that comes from the asset id, so that it is always the same. */
function drawn({ asset, ticker }: LogoOf): SVGElement {
  const hue = Number.parseInt(asset.slice(0, 4), 16) % 360 || 0;
  const letters = Array.from(ticker).slice(0, 2).join('').toUpperCase();
  const text = svg('text', {
    x: '16',
    y: '21',
    'text-anchor': 'middle',
    'font-size': '13',
    'font-weight': '700',
    fill: '#fff',
  });
  text.textContent = letters;
  const back = svg('rect', { width: '32', height: '32', fill: `hsl(${hue} 48% 40%)` });
  return svg('svg', { viewBox: '0 0 32 32' }, back, text);
}
