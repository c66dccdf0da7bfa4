/** The connected wallet: its address, the faucet of a devnet, its key, and the other wallets. */
import { useSignal } from '@preact/signals';
import { Button } from '../components/button.tsx';
import { copied } from '../components/copied.ts';
import { ask } from '../components/dialog.tsx';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { ends } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { testWallet } from './connect.ts';
import type { ConnectedWallet } from './connectedWallet.ts';
import { ImportKey } from './connectOptions.tsx';
import { Faucet } from './faucet.tsx';
import { addTestWallet, sessionOf, takeTestWallet } from './session.ts';
import { forgetSecret, keptSecrets, storage } from './testWallet.ts';

export function Account({ wallet }: { readonly wallet: ConnectedWallet }) {
  const context = usePage();
  const { kind, name, icon, address } = wallet;
  const disconnect = () => sessionOf(context).disconnect();
  return (
    <>
      <h3 class="wallet-name">
        {icon !== null && <img src={icon} alt="" width="20" height="20" />}
        {name}
      </h3>
      <p class="wallet-address">
        <code>{address}</code>
        <CopyButton text={() => address} describe={t.wallet.copyAddress} />
      </p>
      {context.network.value?.name === 'devnet' && <Faucet key={address} address={address} />}
      {kind === 'test' ? (
        <TestKey key={address} address={address} />
      ) : (
        <div>
          <Button run={disconnect}>{t.wallet.disconnect}</Button>
        </div>
      )}
    </>
  );
}

interface CopyButtonProps {
  readonly text: () => string;
  readonly describe: string;
}

function CopyButton({ text, describe }: CopyButtonProps) {
  const label = useSignal(t.wallet.copy);
  const copy = async () => {
    label.value = (await copied(text())) ? t.wallet.copied : t.wallet.selectIt;
  };
  return (
    <Button describe={describe} run={copy}>
      {label.value}
    </Button>
  );
}

/** The key of a test wallet: shown after a warning, forgotten after another one. */
function TestKey({ address }: { readonly address: string }) {
  const context = usePage();
  const shown = useSignal<string | null>(null);
  const secret = secretOf(context, address);
  const reveal = async () => {
    if (shown.value !== null) {
      shown.value = null;
      return;
    }
    await ask({
      title: t.wallet.showKey,
      content: <p class="caution">{t.wallet.showKeyMeans}</p>,
      confirm: t.wallet.showIt,
      async run() {
        shown.value = secret ?? t.wallet.notKept;
        return true;
      },
      late: (error) => context.notify('bad', errorText(error)),
    });
  };
  return (
    <div class="wallet-stack">
      <p class="caution">{t.wallet.keyCaution}</p>
      <div class="buttons">
        <Button run={reveal}>{shown.value === null ? t.wallet.showKey : t.wallet.hideKey}</Button>
        <Button run={() => forget(context, secret)}>{t.wallet.forget}</Button>
        <Button run={() => sessionOf(context).disconnect()}>{t.wallet.disconnect}</Button>
      </div>
      {shown.value !== null && (
        <div class="wallet-stack">
          <code class="secret">{shown.value}</code>
          <div>
            <CopyButton text={() => shown.value ?? ''} describe={t.wallet.copyKey} />
          </div>
        </div>
      )}
      <OtherWallets address={address} />
    </div>
  );
}

function OtherWallets({ address }: { readonly address: string }) {
  const context = usePage();
  const others = kept(context).filter((each) => each.address !== address);
  return (
    <div class="connect-way other-wallets">
      <h3>{t.wallet.others}</h3>
      {others.length > 0 && (
        <ul>
          {others.map((each) => (
            <li key={each.address}>
              <code title={each.address}>{ends(each.address, 10)}</code>
              <Button
                describe={t.wallet.switchTo({ address: ends(each.address, 10) })}
                run={() => takeTestWallet(context, () => each.secret)}
              >
                {t.wallet.use}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <div>
        <Button run={() => addTestWallet(context)}>{t.wallet.add}</Button>
      </div>
      <ImportKey />
    </div>
  );
}

function kept({ notify }: PageContext) {
  try {
    return keptSecrets(storage).map((secret) => {
      const { address, keyHash } = testWallet(secret);
      return { secret, address, keyHash };
    });
  } catch (error) {
    notify('bad', errorText(error));
    return [];
  }
}

/** Payment keys of all wallets that this browser keeps. */
export function keptKeyHashes(context: PageContext): readonly string[] {
  return kept(context).map(({ keyHash }) => keyHash);
}

function secretOf(context: PageContext, address: string): string | null {
  return kept(context).find((each) => each.address === address)?.secret ?? null;
}

async function forget(context: PageContext, secret: string | null): Promise<void> {
  await ask({
    title: t.wallet.forgetTitle,
    content: <p>{t.wallet.forgetMeans}</p>,
    confirm: t.wallet.forgetIt,
    leave: t.wallet.keepIt,
    async run() {
      if (secret !== null) forgetSecret(storage, secret);
      sessionOf(context).disconnect();
      return true;
    },
    late: (error) => context.notify('bad', errorText(error)),
  });
}
