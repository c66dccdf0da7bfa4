/** Launches a token: checks the form, computes the image's content id, builds the transaction. */

import { formatAddress } from '../../cardano/codec/address.ts';
import { LAUNCH_TYPES } from '../../cardano/datums/metadata.ts';
import { lookUpReferences } from '../../cardano/transactions/chainData.ts';
import { planLaunch } from '../../cardano/transactions/launch.ts';
import { newestSettings } from '../../chain/settings.ts';
import { cleanPicture } from '../../client/trade/cleanPicture.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { type LaunchQuote, quoteLaunch } from '../../engine/market/quote.ts';
import { changesDirection, NAME_FAULTS, unreadableName } from '../../engine/market/tokenName.ts';
import { MAX_LINK_BYTES, webLink } from '../../engine/market/webLink.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import {
  MAX_DESCRIPTION_CHARACTERS,
  MAX_NAME_BYTES,
  MAX_NAME_CHARACTERS,
} from '../../engine/runtime/limits.ts';
import { OUTPUTS_BODY_BYTES } from '../gateway/bodyLimits.ts';
import type { Answer, FormFile, Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { cidOf } from '../images/cid.ts';
import { checkImage, DECLARED_TYPES } from '../images/header.ts';
import { builtBefore } from './builtBefore.ts';
import { LaunchAnswer, LaunchForm, type LaunchInfo } from './schema.ts';
import {
  BUILDS,
  build,
  cborForCaller,
  chooseCollateral,
  readAddress,
  type TxBuildContext,
  walletUtxos,
} from './txBuildContext.ts';
import { refuseTtl, validityOf, within } from './validity.ts';

const MAX_BODY_BYTES = 6_291_456;
const DAMAGED_IMAGE = 'the image is cut off or damaged: open it in a viewer and save it again';
const SOCIALS = ['twitter', 'discord', 'telegram', 'website'] as const;
const LINK_RULE =
  'A link begins with https:// and a host, names no user or password, has no spaces or ' +
  `backslashes, and at most ${MAX_LINK_BYTES} bytes as it is stored: letters beyond ASCII in ` +
  'their encoded form.';
const NO_SETTINGS =
  'the settings of this launchpad are not where they count: nothing launches or trades until ' +
  'their signers put them back';

export function launchRoute(txContext: TxBuildContext): Route {
  return route({
    ...BUILDS,
    rate: 'launch',
    path: '/launch',
    operationId: 'launch',
    summary: 'Build the transaction that launches a token',
    description:
      'A form with the logo (`image`) and `info`, JSON. With `initialDeposit` the launcher buys ' +
      'the first tokens in the same transaction. `logoCID` is the content id of the picture as ' +
      'it is stored: without EXIF (its orientation stays), XMP, comments and trailing bytes.',
    maxBodyBytes: OUTPUTS_BODY_BYTES,
    form: {
      maxBodyBytes: MAX_BODY_BYTES,
      fields: LaunchForm,
      files: {
        image: { description: 'The logo', required: true, mediaTypes: DECLARED_TYPES },
      },
    },
    answers: { 200: { description: 'Sign and submit it', schema: LaunchAnswer } },
    causes: ['SERVER_ERROR', 'PROTOCOL_CONFIG', 'OPERATIONS_CONFIG'],
    idempotency: {
      ...builtBefore(txContext),
      wallet: ({ body }) => body.info.changeAddress,
    },
    handle: ({ body, files = [] }) => launch(txContext, body.info, files),
  });
}

async function launch(
  txContext: TxBuildContext,
  info: LaunchInfo,
  [file]: readonly FormFile[],
): Promise<Answer | Failure> {
  if (file === undefined) return invalid('body.image', 'A launch has an image.');
  const creator = readAddress(txContext, info.changeAddress, 'body.info.changeAddress');
  if (creator instanceof Failure) return creator;
  const refused = refuseTtl(info.ttl, 'body.info');
  if (refused !== null) return refused;
  const token = readToken(info);
  if (token instanceof Failure) return token;
  const quote = readQuote(txContext, info.initialDeposit);
  if (quote instanceof Failure) return quote;
  const image = txContext.cannotRunScripts() ?? readImage(file);
  if (image instanceof Failure) return image;
  const wallet = await walletUtxos(txContext, creator, info.utxos);
  if (wallet instanceof Failure) return wallet;
  const collateral = await chooseCollateral(
    txContext,
    formatAddress(creator),
    info.collaterals,
    wallet,
  );
  if (collateral instanceof Failure) return collateral;
  const terms = await launchTerms(txContext);
  if (terms instanceof Failure) return terms;
  const { deployment, references } = terms;
  const logoCID = await cidOf(image.bytes);
  const { name, ...described } = token;
  const planned = planLaunch(
    deployment,
    { creator, name, metadata: { ...described, logoCID, mediaType: image.mediaType }, quote },
    {
      wallet,
      references,
      collateral: collateral.planned,
      parameters: txContext.parameters(),
    },
  );
  if (planned instanceof Failure) return planned;
  const validity = validityOf(txContext.slots, txContext.clock.nowMs(), info.ttl);
  const plan = within(planned.plan, validity);
  const built = await build(txContext, plan, 'SERVER_ERROR', planned.note);
  if (built instanceof Failure) return built;
  const cbor = cborForCaller(txContext, built, collateral);
  if (cbor instanceof Failure) return cbor;
  // Last, so that no image is stored for a launch that fails.
  const kept = await txContext.images.put(image.bytes, image.mediaType);
  if (kept instanceof Failure) return kept;
  return jsonAnswer({
    id: built.id,
    cbor,
    partial: collateral.isOurs,
    validUntil: validity.validUntil,
    logoCID,
    ...launchedToken(planned.token, quote),
  });
}

function readImage({ bytes, mediaType: declared }: FormFile) {
  const header = checkImage(bytes, declared);
  if (header instanceof Failure) return header;
  const { mediaType } = header;
  const clean = cleanPicture(bytes, mediaType);
  return clean === null ? invalid('body.image', DAMAGED_IMAGE) : { bytes: clean, mediaType };
}

/** By the newest settings, which the launch refers to, as to its policy. */
async function launchTerms({ deployment, utxos, store }: TxBuildContext) {
  const found = await lookUpReferences(utxos, [deployment.scripts.launchPolicy]);
  if (found instanceof Failure) return found;
  const settings = await newestSettings(store(), utxos, deployment);
  if (settings === null) return new Failure('PROTOCOL_CONFIG', NO_SETTINGS);
  const references = [...found, settings.utxo];
  return { deployment: { ...deployment, ...settings.roles }, references };
}

function launchedToken(assetId: AssetId, { userTokens }: LaunchQuote) {
  const [policyId = '', assetSubject = ''] = assetId.split('.');
  const bought = userTokens === 0n ? {} : { userOutputTokens: String(userTokens) };
  return { assetId, assetSubject, policyId, ...bought };
}

function readToken(info: LaunchInfo) {
  const name = info.name.trim();
  const characters = [...name].length;
  if (characters < 1 || characters > MAX_NAME_CHARACTERS) {
    return invalid('body.info.name', `A name has 1 to ${MAX_NAME_CHARACTERS} characters.`);
  }
  if (!name.isWellFormed() || Buffer.byteLength(name, 'utf8') > MAX_NAME_BYTES) {
    return invalid('body.info.name', `A name has at most ${MAX_NAME_BYTES} bytes of UTF-8.`);
  }
  const unreadable = unreadableName(name);
  if (unreadable !== null) return invalid('body.info.name', NAME_FAULTS[unreadable]);
  const { description } = info;
  if ([...description].length > MAX_DESCRIPTION_CHARACTERS || !description.isWellFormed()) {
    const most = `A description has at most ${MAX_DESCRIPTION_CHARACTERS} characters.`;
    return invalid('body.info.description', most);
  }
  if (changesDirection(description)) {
    const rule = 'A description has no characters that change the direction of text.';
    return invalid('body.info.description', rule);
  }
  const socials = readSocials(info);
  if (socials instanceof Failure) return socials;
  const launchType = LAUNCH_TYPES.findIndex((type) => type === (info.launchType || 'DEFAULT'));
  return { name, ticker: info.ticker, description, launchType, socials };
}

/** As they are stored: absent ones are empty. */
function readSocials(info: LaunchInfo) {
  const socials = { twitter: '', discord: '', telegram: '', website: '' };
  for (const name of SOCIALS) {
    const link = info[name] ? webLink(info[name]) : '';
    if (link === null) return invalid(`body.info.${name}`, LINK_RULE);
    socials[name] = link;
  }
  return socials;
}

function readQuote(
  { deployment }: TxBuildContext,
  initialDeposit: string | null | undefined,
): LaunchQuote | Failure {
  const { curve, thresholdLovelace, fees } = deployment;
  const quote = quoteLaunch(curve, thresholdLovelace, fees, BigInt(initialDeposit || '0'));
  if (quote.outcome === 'launch') return quote;
  return invalid('body.info.initialDeposit', quote.message);
}
