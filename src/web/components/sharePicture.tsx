/** Shows a picture in a dialog, to be sent to other programs, or saved where none takes it. */
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { t } from '../messages.ts';
import { useOnce } from './button.tsx';
import { ask } from './dialog.tsx';
import { Icon } from './icon.tsx';

interface Shared {
  readonly blob: Blob;
  /** Name of the file, without its ending. */
  readonly name: string;
  readonly title: string;
  /** Alternative text for screen readers. */
  readonly says: string;
  /** `navigationNow` when the button was pressed: not shown on another page. */
  readonly navigation: number;
}

interface StarProps {
  readonly label: string;
  readonly run: () => Promise<void>;
}

/** The small button beside a name. Takes no other click until the picture's dialog is closed. */
export function ShareStar({ label, run }: StarProps) {
  const { isBusy, once } = useOnce();
  return (
    <button
      type="button"
      class="star"
      aria-label={label}
      aria-busy={isBusy || undefined}
      title={t.picture.share}
      onClick={() => once(run)}
    >
      <Icon name="share" />
    </button>
  );
}

export async function sharePicture(
  { notify }: Pick<PageContext, 'notify'>,
  { blob, name, title, says, navigation }: Shared,
): Promise<void> {
  const url = URL.createObjectURL(blob);
  const file = new File([blob], `${name}.png`, { type: blob.type });
  const canShare = navigator.canShare?.({ files: [file] }) === true;
  await ask({
    title,
    navigation,
    content: <img class="shared-picture" src={url} alt={says} width="1200" height="630" />,
    confirm: canShare ? t.picture.send : t.picture.save,
    run: async () => {
      if (canShare) await navigator.share({ files: [file] });
      else save(url, file.name);
      return true;
    },
    late: (error) => notify('bad', errorText(error)),
  });
  URL.revokeObjectURL(url);
}

function save(url: string, name: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}
