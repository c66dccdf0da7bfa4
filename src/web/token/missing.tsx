/**
 * The view for an address that cannot be a token: the fault of the address, and links to other
 * views.
 */
import { shownText } from '../../engine/market/shownText.ts';
import { t } from '../messages.ts';

const SHOWN_LENGTH = 100;

export function MissingToken({ text }: { readonly text: string }) {
  return (
    <div class="panel">
      <div class="empty" role="status">
        <h1>{t.missing.title}</h1>
        {t.missing.explained}
        <span class="code">{shownText(text, SHOWN_LENGTH)}</span>
        <div>
          <a class="button" href="#/">
            {t.missing.home}
          </a>
        </div>
      </div>
    </div>
  );
}
