/** Shares a token as the picture that chats show beside its link (`/og/<asset>.png`). */
import { navigationNow } from '../components/dialog.tsx';
import { ShareStar, sharePicture } from '../components/sharePicture.tsx';
import { errorText } from '../errorText.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';

interface ShareButtonProps {
  readonly asset: string;
  readonly name: string;
}

export function ShareButton({ asset, name }: ShareButtonProps) {
  const context = usePage();
  const share = async () => {
    const navigation = navigationNow();
    try {
      const answer = await fetch(`/og/${asset}.png`);
      if (!answer.ok) throw new Error(t.picture.notDrawn({ status: answer.status }));
      const title = t.picture.ofToken({ name });
      const blob = await answer.blob();
      await sharePicture(context, { blob, name: asset, title, says: title, navigation });
    } catch (error) {
      context.notify('bad', errorText(error));
    }
  };
  return <ShareStar label={t.picture.ofToken({ name })} run={share} />;
}
