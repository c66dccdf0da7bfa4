/** Deployments of real networks: the shipped files, and the messages for wrong files. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parameterRoutes } from '../../../src/api/builder/parameters.ts';
import type { TxBuildContext } from '../../../src/api/builder/txBuildContext.ts';
import type { Deployment, NetworkDeployment } from '../../../src/cardano/datums/deployment.ts';
import { Key } from '../../../src/cardano/keys/keys.ts';
import {
  deployedCode,
  deploymentOf,
  lockedAddress,
  VALIDATORS,
} from '../../../src/cardano/validators/deploy.ts';
import { DEFAULT_CURVE } from '../../../src/engine/market/curve.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../../../src/engine/market/pool.ts';
import { Failure, Unavailable } from '../../../src/engine/runtime/errors.ts';
import {
  deploymentText,
  parseDeployment,
  parseSigners,
  parseTerms,
  readDeployment,
} from '../../../src/server/settings/deployments.ts';
import { txBuildContextOf as opened } from '../../../src/server/wiring/txBuildContext.ts';

const OURS = ['preprod', 'preview'] as const;

test('mainnet is the launchpad that runs there, as far as it is known', () => {
  const { partial, complete, start, missing, mismatch } = readDeployment('mainnet');
  assert.ok(partial);
  assert.equal(partial.addressNetwork, 'mainnet');
  assert.equal(partial.launchPolicyId, '63f947b8d9535bc4e4ce6919e3dc056547e8d30ada12f29aa5f826b8');
  assert.deepEqual(partial.scripts, {
    curvePool: {
      hash: '905ab869961b094f1b8197278cfe15b45cbe49fa8f32c6b014f85a2d',
      ref: {
        txHash: 'c4a540ac2e06c217dd4fb3f39ca3863da394ba134677dafa9b98830ca71d584d',
        index: 3,
      },
    },
    order: {
      hash: 'd9143ac63473b17a215d1b7484dfb6ac6b4a0005beb0e26a6ca02c96',
      ref: {
        txHash: 'e2ed9e953ebf98ca701fc93588d73cb9769f87b9d13712474f566a0743963e8b',
        index: 0,
      },
    },
    ammPool: null,
    vesting: {
      hash: 'ddbebc6263726bcc035934b3b71c1fb144a78a1cbbc57499c45b1e89',
      ref: {
        txHash: '27cd7f14a124e2078de83e99a97cc52855b457845c4fc2cad365b931908f7e42',
        index: 0,
      },
    },
    limitOrder: {
      hash: '464eeee89f05aff787d40045af2a40a83fd96c513197d32fbc54ff02',
      ref: {
        txHash: 'b91eda29d145ab6c0bc0d6b7093cb24b131440b7b015033205476f39c690a51f',
        index: 0,
      },
    },
    firstInstantOrder: {
      hash: '9e94e848482ffb2befe7fe6c2f5171c99086b53b3f73f535ff61ca09',
      ref: {
        txHash: '75f04884fd3fe7780f9e0cbde69bf59e6ae0dd7927263b2db72303fb68c7352d',
        index: 0,
      },
    },
    splashPool: {
      hash: 'cb684a69e78907a9796b21fc150a758af5f2805e5ed5d5a8ce9f76f1',
      ref: {
        txHash: '8aa606ad8c995af6e59b19c0fee2f5bb5abc04552d105a146f0a4921cca9b600',
        index: 0,
      },
    },
  });
  assert.deepEqual(partial.splashOrder, {
    executor: '5cb2c968e5d1c7197a6ce7615967310a375545d9bc65063a964335b2',
    stepLovelace: 1_000_000n,
    feeLovelace: 1_000_000n,
  });
  assert.equal(partial.refundAfterMs, 1_200_000);
  assert.equal(partial.collateralKeyHash, null);
  assert.equal(partial.executors, null, 'executors change: any counts');
  assert.deepEqual([partial.curve, partial.fees], [DEFAULT_CURVE, DEFAULT_FEES]);
  assert.deepEqual(start, {
    slot: 122_422_297,
    hash: '62629dcb0f7708eea1efcbf94229ce95adde99e95fa3cc53bd0177e3254727e4',
  });
  assert.equal(complete, null);
  assert.equal(mismatch, null);
  for (const name of ['executorKeyHash', 'metadataAddress', 'scripts.ammPool.hash']) {
    assert.ok(missing.includes(name), name);
  }
  assert.ok(!missing.some((name) => /^scripts\.(order|curvePool)/.test(name)));
});

test('elsewhere the validators are ours, and wait to be deployed', () => {
  for (const network of OURS) {
    const found = readDeployment(network);
    assert.equal(found.partial, null);
    assert.equal(found.complete, null);
    assert.ok(found.missing.includes('scripts.launchPolicy.hash'));
    const path = join(import.meta.dirname, `../../../config/${network}.json`);
    const file: Record<string, unknown> = JSON.parse(readFileSync(path, 'utf8'));
    const { deployment } = ours(network);
    const expected = JSON.parse(deploymentText(deployment, null));
    for (const name of ['executorKeyHash', 'feeKeyHash', 'collateralKeyHash']) {
      expected[name] = null;
    }
    for (const script of Object.values<Record<string, unknown>>(expected.scripts)) {
      script.reference = null;
    }
    expected.scripts.launchPolicy.hash = null;
    assert.ok(found.missing.includes('settings'));
    delete expected.settings;
    assert.deepEqual(file, expected);
    assert.equal(expected.scripts.order.hash, VALIDATORS.order.hash);
  }
});

/** As `deploy` would have written it. */
function ours(network: (typeof OURS)[number]): { deployment: Deployment; text: string } {
  const hash = (digit: string) => new Key(digit.repeat(64)).hash;
  const ref = (index: number) => ({ txHash: 'ab'.repeat(32), index });
  const plan = {
    curve: DEFAULT_CURVE,
    fees: DEFAULT_FEES,
    thresholdLovelace: DEFAULT_THRESHOLD_LOVELACE,
    refundAfterMs: 1_200_000,
    executorKeyHash: hash('1'),
    feeKeyHash: hash('2'),
    collateralKeyHash: hash('3'),
    settings: { required: 1, keyHashes: [hash('4'), hash('5')], seed: ref(9) },
  };
  const code = deployedCode(plan);
  const refs = { launchPolicy: ref(0), curvePool: ref(1), order: ref(2) };
  const all = { ...refs, ammPool: ref(3), vesting: ref(4) };
  const made = deploymentOf(plan, code, all, ref(5));
  const deployment: Deployment = { ...made, network };
  assert.equal(deployment.metadataAddress, lockedAddress('token metadata'));
  return { deployment, text: deploymentText(deployment, { slot: 5, hash: 'cd'.repeat(32) }) };
}

test('the file of a deployment is read back whole', () => {
  const { deployment, text } = ours('preview');
  const found = parseDeployment('preview', text, 'file');
  assert.deepEqual(found.complete, deployment);
  assert.deepEqual(found.missing, []);
  assert.deepEqual(found.start, { slot: 5, hash: 'cd'.repeat(32) });
  assert.equal(found.partial?.executors, undefined, 'one executor: ours');
  assert.equal(found.partial?.executorKeyHash, deployment.executorKeyHash);
});

test('code that stands in a file has the hash beside it', () => {
  const plan = ours('preview').deployment;
  const code = deployedCode(plan);
  const text = deploymentText(plan, null, code);
  assert.deepEqual(parseDeployment('preview', text, 'file').complete, plan);
  const other = deploymentText(plan, null, { ...code, vesting: code.order });
  assert.throws(
    () => parseDeployment('preview', other, 'file'),
    /scripts\.vesting\.code: code in hex that has the hash beside it was expected/,
  );
});

test('a list of executors counts as such', () => {
  const list = ['11'.repeat(28), '22'.repeat(28)];
  const text = changed((file) => {
    file.executors = list;
  });
  assert.deepEqual(parseDeployment('preprod', text, 'file').partial?.executors, list);
});

function changed(change: (file: Record<string, unknown>) => void): string {
  const file: Record<string, unknown> = JSON.parse(ours('preprod').text);
  change(file);
  return JSON.stringify(file);
}

test('every fault of a file is reported at once', () => {
  const text = changed((file) => {
    file.curve = { aNum: 122525779519, bNum: '-1', supply: '1e9' };
    file.network = 'testnet';
    file.executors = [];
    file.start = { slot: -1, hash: 'abc' };
    file.metadataAddress = 'addr_test1nonsense';
    file.extra = true;
    delete file.thresholdLovelace;
    file.scripts = { order: { hash: 'zz', reference: 'here' } };
  });
  const faults = [
    'curve.aNum',
    'curve.bNum',
    'curve.supply',
    'network',
    'executors',
    'start.slot',
    'start.hash',
    'metadataAddress',
    'extra',
    'thresholdLovelace',
    'scripts.order.hash',
    'scripts.order.reference',
    'scripts.vesting',
  ];
  assert.throws(
    () => parseDeployment('preprod', text, 'here.json'),
    (error: unknown) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, /^here\.json is no deployment:\n/);
      for (const fault of faults) {
        assert.ok(error.message.includes(`\n  ${fault}:`), `${fault} in ${error.message}`);
      }
      return true;
    },
  );
  assert.throws(() => parseDeployment('preprod', '{', 'x'), /the file is not JSON/);
  assert.throws(() => parseDeployment('preprod', '[]', 'x'), /an object was expected/);
});

/** The faults that it is refused for. */
function faultsOf(parse: () => unknown): string[] {
  try {
    parse();
  } catch (error) {
    assert.ok(error instanceof Error);
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
  return [];
}

test('a part that is missing is named once, a field that is known nowhere by its place', () => {
  const text = changed((file) => {
    delete file.scripts;
    file.fees = { ...Object(file.fees), percentFee: 1, tip: '2' };
    file.settings = { keyHashes: ['x'], required: 0 };
  });
  assert.deepEqual(faultsOf(() => parseDeployment('preprod', text, 'x')).sort(), [
    'fees.percentFee: an integer as text was expected',
    'fees.tip: is not known',
    'scripts: is missing',
    'settings.keyHashes.0: a hash of 56 hex digits was expected',
    'settings.policyId: is missing',
    'settings.reference: is missing',
    'settings.required: an integer of at least 1 was expected',
    'settings.seed: is missing',
  ]);
});

test('no more signers are required than there are, each once', () => {
  const hash = '11'.repeat(28);
  const faults = (keyHashes: readonly string[], required: number) =>
    faultsOf(() => parseSigners(JSON.stringify({ keyHashes, required }), 'x'));
  assert.deepEqual(faults([hash], 1), []);
  const tooMany = 'required: at most as many as there are keyHashes was expected';
  assert.deepEqual(faults([hash], 2), [tooMany]);
  const different = 'keyHashes: 1 to 20 different key hashes of 56 hex digits was expected';
  assert.deepEqual(faults([hash, hash], 2), [different]);
  assert.deepEqual(faults([], 1), [different]);
  assert.deepEqual(
    faultsOf(() => parseTerms('5', 'x')),
    ['the file: an object was expected'],
  );
});

test('a file or an address of another network is distinguished from a wrong file', () => {
  const { text } = ours('preprod');
  const other = parseDeployment('preview', text, 'file');
  assert.equal(other.mismatch, 'PROTOCOL_CONFIG_NETWORK_MISMATCH');
  assert.equal(other.complete, null);
  const foreign = changed((file) => {
    file.metadataAddress = 'addr1v8fet8gavr6elqt6q50skkjf025zthqu6vr56l5k39sp9aqlvz2g4';
  });
  const found = parseDeployment('preprod', foreign, 'file');
  assert.equal(found.mismatch, 'CONTRACTS_CONFIG_NETWORK_MISMATCH');
  assert.equal(found.complete, null);
  for (const network of [other, found]) {
    assert.throws(() => parametersOf(network), {
      failure: new Failure(network.mismatch ?? 'UNKNOWN', MISMATCH),
    });
  }
});

test('known parts are returned, also where they are not enough to build', async () => {
  const { partial } = readDeployment('mainnet');
  const answer = await parametersOf(readDeployment('mainnet'));
  assert.ok(typeof answer === 'object' && answer !== null && 'body' in answer);
  const { deployScript, adaThreshold } = JSON.parse(String(answer.body));
  assert.equal(deployScript, partial?.launchPolicyId);
  assert.equal(adaThreshold, String(partial?.thresholdLovelace));
});

const MISMATCH = 'the deployment of this node is of another network: correct DEPLOYMENT_FILE';

test('a collateral key that was given is guarded, also where the file names none', () => {
  const given = new Key('5'.repeat(64));
  const mainnet = readDeployment('mainnet');
  assert.equal(txBuildContextOf(mainnet, given).partialDeployment.collateralKeyHash, given.hash);
  assert.equal(txBuildContextOf(mainnet, null).partialDeployment.collateralKeyHash, null);
  const { deployment, text } = ours('preview');
  const found = txBuildContextOf(parseDeployment('preview', text, 'file'), null).partialDeployment;
  assert.equal(found.collateralKeyHash, deployment.collateralKeyHash);
});

test('an incomplete deployment throws with its missing parts', () => {
  assert.throws(
    () => txBuildContextOf(readDeployment('mainnet'), null).deployment,
    (error: unknown) => {
      assert.ok(error instanceof Unavailable);
      assert.equal(error.failure.cause, 'PROTOCOL_CONFIG');
      assert.match(error.failure.message, /tokenPolicyTemplate.*orders, cancels and transfers/);
      return true;
    },
  );
  const { orderLayout: _, settings: __, ...earlier } = JSON.parse(ours('preview').text);
  const found = parseDeployment('preview', JSON.stringify(earlier), 'file');
  assert.throws(
    () => txBuildContextOf(found, null).deployment,
    /\(orderLayout, settings\): it is of an earlier version, so deploy again; cancels/,
  );
});

/** As `/parameters` answers on a node with this deployment. */
function parametersOf(network: NetworkDeployment): unknown {
  const [route] = parameterRoutes(txBuildContextOf(network, null));
  assert.equal(route?.path, '/parameters');
  return route.handle({ query: {}, params: {}, body: undefined });
}

function txBuildContextOf(network: NetworkDeployment, collateral: Key | null): TxBuildContext {
  // trust: only the deployment is read, before any rotation
  const store = () => ({ get: () => null });
  const [plain, live] = [{ store }, { terms: null }] as unknown as [
    Parameters<typeof opened>[0],
    Parameters<typeof opened>[2],
  ];
  return opened(plain, network, live, collateral, { CALLERS_COLLATERALS: 3 });
}
