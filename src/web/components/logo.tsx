/** A token's logo from this server; until it is there, or where there is none, one drawn here. */
import { useState } from 'preact/hooks';

const CID = /^[A-Za-z0-9]{1,128}$/;

export interface LogoOf {
  readonly asset: string;
  readonly ticker: string;
  readonly logoCID: string;
}

export function Logo({ asset, ticker, logoCID }: LogoOf) {
  const [broken, setBroken] = useState('');
  // Two letters on a colour that comes from the asset id, so that it is always the same.
  const hue = Number.parseInt(asset.slice(0, 4), 16) % 360 || 0;
  const letters = Array.from(ticker).slice(0, 2).join('').toUpperCase();
  return (
    <span class="logo" aria-hidden="true">
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" fill={`hsl(${hue} 48% 40%)`} />
        <text x="16" y="21" text-anchor="middle" font-size="13" font-weight="700" fill="#fff">
          {letters}
        </text>
      </svg>
      {CID.test(logoCID) && broken !== logoCID && (
        <img
          key={logoCID}
          alt=""
          loading="lazy"
          decoding="async"
          src={`/ipfs/${logoCID}`}
          onError={() => setBroken(logoCID)}
        />
      )}
    </span>
  );
}
