/** A launch's appearance in a wallet: the metadata that its transaction carries (CIP-25). */
import { t } from '../messages.ts';
import { type Logo, useObjectUrl } from './logoField.tsx';

interface WalletPreviewProps {
  readonly name: string;
  readonly ticker: string;
  readonly description: string;
  readonly logo: Logo | null;
}

export function WalletPreview({ name, ticker, description, logo }: WalletPreviewProps) {
  const url = useObjectUrl(logo?.file ?? null);
  const words = t.launch.inWallets;
  return (
    <figure class="wallet-preview">
      <figcaption class="label">{words.title}</figcaption>
      <div class="wallet-shown">
        <span class="logo-preview" aria-hidden="true">
          {url !== null && <img src={url} alt="" />}
        </span>
        <div>
          <strong>{name.trim() || t.launch.names.name}</strong>{' '}
          <span class="dim">{ticker || t.launch.names.ticker}</span>
          <p class="small">{description}</p>
        </div>
      </div>
      <p class="hint">{words.means}</p>
    </figure>
  );
}
