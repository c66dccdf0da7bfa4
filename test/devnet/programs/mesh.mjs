// Mesh pays, mints, locks and unlocks with a reference script. Arguments: URL of Ogmios, of Kupo.
import {
  applyCborEncoding,
  KupoProvider,
  MeshTxBuilder,
  MeshWallet,
  mConStr0,
  OgmiosProvider,
  resolveScriptHash,
  serializePlutusScript,
} from '@meshsdk/core';

const [ogmiosUrl, kupoUrl, devnetUrl] = process.argv.slice(2);
const CHECK_MS = 100;
const kupo = new KupoProvider(kupoUrl);
const ogmios = new OgmiosProvider(ogmiosUrl);
const wallet = new MeshWallet({
  networkId: 0,
  fetcher: kupo,
  submitter: ogmios,
  key: { type: 'mnemonic', words: MeshWallet.brew() },
});
await wallet.init();
const address = await wallet.getChangeAddress();

async function seen(id) {
  for (;;) {
    const held = await kupo.fetchAddressUTxOs(address);
    if (held.some(({ input }) => input.txHash === id)) return held;
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
  }
}

async function gift(ada) {
  const body = JSON.stringify({ address, ada });
  const answer = await fetch(`${devnetUrl}/devnet/v1/faucet`, { method: 'POST', body });
  return seen((await answer.json()).txHash);
}

await gift(1_000);
await gift(10);

// Mesh brings its own cost models; the node hashes scripts with the node's models.
const question = { jsonrpc: '2.0', method: 'queryLedgerState/protocolParameters', id: null };
const asked = await fetch(devnetUrl, { method: 'POST', body: JSON.stringify(question) });
const { plutusCostModels: models } = (await asked.json()).result;
const costModels = ['plutus:v1', 'plutus:v2', 'plutus:v3'].map((name) => models[name]);

async function begin() {
  const builder = new MeshTxBuilder({ fetcher: kupo, submitter: ogmios, evaluator: ogmios });
  builder.setNetwork(costModels);
  return builder.changeAddress(address).selectUtxosFrom(await kupo.fetchAddressUTxOs(address));
}

async function withCollateral(builder) {
  const held = await kupo.fetchAddressUTxOs(address);
  const { input, output } = held.find(({ output: { amount } }) => {
    return amount.length === 1 && BigInt(amount[0].quantity) >= 5_000_000n;
  });
  return builder.txInCollateral(input.txHash, input.outputIndex, output.amount, output.address);
}

async function send(what, builder) {
  const signed = await wallet.signTx(await builder.complete());
  const id = await ogmios.submitTx(signed);
  await seen(id);
  console.log(what);
  return id;
}

// It always succeeds.
const code = applyCborEncoding('480100002221200101');
const policy = resolveScriptHash(code, 'V2');
const contract = serializePlutusScript({ code, version: 'V2' }, undefined, 0).address;
const lovelace = (quantity) => [{ unit: 'lovelace', quantity }];

await send('pay', (await begin()).txOut(address, lovelace('5000000')));
const mint = (await begin()).mintPlutusScriptV2().mint('42', policy, '746f6b656e');
await send('mint', await withCollateral(mint.mintingScript(code).mintRedeemerValue(mConStr0([]))));
const lock = (await begin())
  .txOut(contract, lovelace('10000000'))
  .txOutInlineDatumValue(7)
  .txOut(address, lovelace('20000000'))
  .txOutReferenceScript(code, 'V2');
const id = await send('lock', lock);
const [{ input, output }] = await kupo.fetchAddressUTxOs(contract);
const unlock = (await begin())
  .spendingPlutusScriptV2()
  .txIn(input.txHash, input.outputIndex, output.amount, output.address)
  .txInInlineDatumPresent()
  .txInRedeemerValue(mConStr0([]))
  .spendingTxInReference(id, 1, String(code.length / 2), policy);
await send('unlock', await withCollateral(unlock));
process.exit(0);
