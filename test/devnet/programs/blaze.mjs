// Blaze pays, mints, locks and unlocks with a reference script. Arguments: URL of Ogmios, of Kupo.
import { Unwrapped } from '@blaze-cardano/ogmios';
import { Blaze, Core, HotWallet, Kupmios } from '@blaze-cardano/sdk';

const [ogmiosUrl, kupoUrl, devnetUrl] = process.argv.slice(2);
const CHECK_MS = 100;
const provider = new Kupmios(kupoUrl, await Unwrapped.Ogmios.new(ogmiosUrl));
const key = Core.Bip32PrivateKey.fromBip39Entropy(Buffer.from('11'.repeat(32), 'hex'), '');
const wallet = await HotWallet.fromMasterkey(key.hex(), provider, Core.NetworkId.Testnet);
const { address } = wallet;

async function seen(id) {
  for (;;) {
    const held = await provider.getUnspentOutputs(address);
    if (held.some((utxo) => utxo.input().transactionId() === id)) return held;
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
  }
}

const gift = await fetch(`${devnetUrl}/devnet/v1/faucet`, {
  method: 'POST',
  body: JSON.stringify({ address: address.toBech32(), ada: 1_000 }),
});
await seen((await gift.json()).txHash);
const blaze = await Blaze.from(provider, wallet);

async function send(what, transaction) {
  const signed = await blaze.signTransaction(await transaction.complete());
  const id = await blaze.submitTransaction(signed);
  const held = await seen(id);
  console.log(what);
  return held;
}

// It always succeeds.
const code = Core.HexBlob('480100002221200101');
const script = Core.Script.newPlutusV2Script(new Core.PlutusV2Script(code));
const contract = Core.addressFromValidator(Core.NetworkId.Testnet, script);
const redeemer = Core.PlutusData.newInteger(1n);
const tokens = new Map([[Core.AssetName('746f6b656e'), 42n]]);

await send('pay', blaze.newTransaction().payLovelace(address, 5_000_000n));
const mint = blaze.newTransaction().addMint(Core.PolicyId(script.hash()), tokens, redeemer);
await send('mint', mint.provideScript(script));
const lock = blaze.newTransaction().lockLovelace(contract, 10_000_000n, redeemer);
const held = await send('lock', lock.deployScript(script, address));
const [locked] = await provider.getUnspentOutputs(contract);
const reference = held.find((utxo) => utxo.output().scriptRef() !== undefined);
const unlock = blaze.newTransaction().addInput(locked, redeemer);
await send('unlock', unlock.addReferenceInput(reference));
process.exit(0);
