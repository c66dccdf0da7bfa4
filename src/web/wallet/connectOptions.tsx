/** Ways to connect a wallet, as this network and this browser offer them. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { ErrorBox } from '../components/errorBox.tsx';
import { TextField } from '../components/field.tsx';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { type Extension, extensionsIn } from './cip30.ts';
import { connectExtension } from './connect.ts';
import { sessionOf, startTestWallet, takeTestWallet } from './session.ts';
import { readSecret } from './testWallet.ts';

/** Extensions put themselves into the page when they please. */
const LOOK_EVERY_MS = 1_000;

export function ConnectOptions() {
  const network = usePage().network.value?.name ?? null;
  if (network === null) return null;
  if (network === 'none') return <p>{t.wallet.nothingToSign}</p>;
  return (
    <>
      {network === 'devnet' && <TestChoice />}
      <ExtensionChoices />
    </>
  );
}

function TestChoice() {
  const context = usePage();
  return (
    <div class="connect-way">
      <h3>{t.wallet.test}</h3>
      <p class="caution">{t.wallet.testCaution}</p>
      <div>
        <Button kind="primary" run={() => startTestWallet(context)}>
          {t.wallet.useTest}
        </Button>
      </div>
      <ImportKey />
    </div>
  );
}

/** Keys of this devnet; the warning comes before the field. */
export function ImportKey() {
  const context = usePage();
  const text = useSignal('');
  const problem = useSignal<string | null>(null);
  const take = () => {
    const read = readSecret(text.value);
    problem.value = typeof read === 'string' ? read : null;
    if (typeof read === 'string') return;
    takeTestWallet(context, () => read.secret);
    text.value = '';
  };
  return (
    <details>
      <summary>{t.wallet.importKey}</summary>
      <div class="wallet-stack">
        <p class="caution">{t.wallet.importCaution}</p>
        <TextField
          label={t.wallet.secret}
          hint={t.wallet.secretHint}
          value={text.value}
          input={(typed) => {
            text.value = typed;
          }}
          problem={problem.value}
          attributes={{ type: 'password', maxLength: 200 }}
        />
        <div>
          <Button run={take}>{t.wallet.importIt}</Button>
        </div>
      </div>
    </details>
  );
}

function ExtensionChoices() {
  const context = usePage();
  const { clock, network } = context;
  const found = useSignal<readonly Extension[]>([]);
  const failure = useSignal<unknown>(null);
  useEffect(() => {
    const look = () => {
      found.value = extensionsIn(window, clock);
      timer = clock.after(LOOK_EVERY_MS, look);
    };
    let timer = clock.after(0, look);
    return () => timer.cancel();
  }, []);
  const connect = async (extension: Extension) => {
    failure.value = null;
    if (network.value === null) return;
    try {
      sessionOf(context).connect(await connectExtension(extension, network.value));
    } catch (error) {
      failure.value = error;
    }
  };
  return (
    <div class="connect-way">
      <h3>{t.wallet.ofBrowser}</h3>
      {found.value.length > 0 && (
        <ul class="extensions">
          {found.value.map((extension) => (
            <li key={extension.id}>
              <Button run={() => connect(extension)}>
                {extension.icon !== null && (
                  <img src={extension.icon} alt="" width="20" height="20" />
                )}
                {t.wallet.connectTo({ name: extension.name })}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {found.value.length === 0 && <p class="dim">{t.wallet.noExtension}</p>}
      {failure.value !== null && <ErrorBox error={failure.value} />}
    </div>
  );
}
