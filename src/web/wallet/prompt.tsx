/** Where a wallet is needed: the shortest way to one, and on a devnet to its first coins. */
import { Button } from '../components/button.tsx';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { Faucet } from './faucet.tsx';
import { sessionOf, startTestWallet } from './session.ts';

export function WalletPrompt() {
  const context = usePage();
  const session = sessionOf(context);
  const network = context.network.value?.name ?? null;
  const wallet = session.wallet.value;
  const hasNone = session.balance.value?.lovelace === 0n && !session.hasHadCoins;
  const isPoor = wallet !== null && hasNone && network === 'devnet';
  if (network === null) return null;
  if (network === 'none') return <p class="dim">{t.wallet.noChain}</p>;
  if (wallet === null) {
    return (
      <div class="trade-prompt">
        {network === 'devnet' && (
          <Button kind="primary" run={() => startTestWallet(context)}>
            {t.wallet.make}
          </Button>
        )}
        <a class="button" href="#/wallet">
          {t.wallet.connect}
        </a>
      </div>
    );
  }
  if (!isPoor) return null;
  return (
    <div class="trade-prompt">
      <Faucet key={wallet.address} address={wallet.address} />
    </div>
  );
}
