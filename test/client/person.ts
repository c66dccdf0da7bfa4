/** Somebody with a key who trades through the client alone. */
import assert from 'node:assert/strict';
import {
  type ApiOrder,
  type Client,
  Key,
  newSecret,
  type OrderBody,
} from '../../src/client/index.ts';
import { pictureOf } from '../../src/client/trade/picture.ts';
import { untilAsked } from '../support/until.ts';

const DEADLINE_MS = 30_000;

export class Person {
  readonly key = new Key(newSecret());
  readonly address = this.key.address('testnet');
  readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  /** Funds the person with `outputs` outputs of `ada` ADA each. */
  async fund(ada: number, outputs: number, mine: () => Promise<unknown>): Promise<void> {
    for (let made = 0; made < outputs; made += 1) {
      await this.client.devnet.faucet({ address: this.address, ada });
    }
    await mine();
    const held = async () => (await this.client.utxos.list({ pkh: this.key.hash })).data.length;
    await untilAsked('the faucet has paid', held, (count) => count >= outputs, DEADLINE_MS);
  }

  async send(cbor: string): Promise<string> {
    const body = { cbor, witness: this.key.witness(cbor), changeAddress: this.address };
    return (await this.client.submit.signAndSubmit(body)).data.txHash;
  }

  /** The asset id of the token. */
  async launch(name: string, initialAda = 20): Promise<string> {
    const image = new Blob([pictureOf(name)], { type: 'image/png' });
    const { data } = await this.client.build.launch({
      image,
      name,
      assetType: 'Meme',
      ticker: 'COIN',
      description: 'A token of a test.',
      initialDeposit: String(initialAda * 1_000_000),
      changeAddress: this.address,
    });
    assert.equal(await this.send(data.cbor), data.id);
    return data.assetId;
  }

  /** The id of the order. */
  async order(
    request: Pick<OrderBody, 'assetId' | 'side' | 'amount' | 'slippage'>,
  ): Promise<string> {
    const { data } = await this.client.build.order({ ...request, changeAddress: this.address });
    assert.equal(await this.send(data.cbor), data.txHash);
    return data.entityId;
  }

  async cancel({ entityId }: Pick<ApiOrder, 'entityId'>): Promise<void> {
    const [txHash = '', index = '0'] = entityId.split(':');
    const body = { txHash, index, changeAddress: this.address };
    await this.send((await this.client.build.cancel(body)).data.cbor);
  }
}
