/** The view for an address that leads to nothing: the fault of the address, and a way back. */
import { shownText } from '../../engine/market/shownText.ts';
import { t } from '../messages.ts';

const SHOWN_LENGTH = 100;

interface MissingProps {
  /** The kind of the missing thing: a token, or any page. */
  readonly what: keyof typeof t.missing.title;
  readonly text: string;
}

export function Missing({ what, text }: MissingProps) {
  return (
    <div class="panel">
      <div class="empty" role="status">
        <h1>{t.missing.title[what]}</h1>
        {t.missing.explained[what]} <span class="code">{shownText(text, SHOWN_LENGTH)}</span>
        <div>
          <a class="button primary" href="#/">
            {t.missing.home}
          </a>
        </div>
      </div>
    </div>
  );
}
