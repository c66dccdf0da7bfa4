/** Coins of a devnet for the asking, and word of their arrival. */
import { useSignal } from '@preact/signals';
import { MAX_FAUCET_ADA } from '../../engine/runtime/limits.ts';
import { Button } from '../components/button.tsx';
import { ErrorBox } from '../components/errorBox.tsx';
import { grouped } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { sessionOf } from './session.ts';

const ADA = grouped(String(MAX_FAUCET_ADA));

export function Faucet({ address }: { readonly address: string }) {
  const context = usePage();
  const failure = useSignal<unknown>(null);
  const state = useSignal(t.wallet.devnetCoins);
  const give = async () => {
    failure.value = null;
    try {
      const { data } = await context.client.devnet.faucet({ address, ada: MAX_FAUCET_ADA });
      state.value = t.wallet.coinsSent;
      const came = await sessionOf(context).follow(data.txHash);
      state.value = came ? t.wallet.coinsCame({ ada: ADA }) : t.wallet.coinsUnseen;
    } catch (error) {
      failure.value = error;
    }
  };
  return (
    <div class="wallet-stack">
      <div>
        <Button run={give}>{t.wallet.get({ ada: ADA })}</Button>
      </div>
      <p class="hint" role="status">
        {state.value}
      </p>
      {failure.value !== null && <ErrorBox error={failure.value} />}
    </div>
  );
}
